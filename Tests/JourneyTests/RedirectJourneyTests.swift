import Errand
import ErrandTesting
import ErrandTransfers
import Foundation
import Testing

/// Redirects on real sockets between two ports, which count as two origins.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct RedirectJourneyTests {
  private func address(_ mock: MockServer, _ path: String) -> String {
    mock.url.appendingPathComponent(path).absoluteString
  }

  @Test func `a redirect to another origin drops credentials, and redirects reuse connections`() async throws {
    let (shop, other) = (try Shop { $0.standardHeaders["Authorization"] = "s3cret" }, try Shop())
    shop.mock.route("/a", answer: .status(302, headers: ["Location": "/b"], body: String(repeating: "x", count: 4096)))
    shop.mock.route("/b", answer: .status(307, headers: ["Location": address(other.mock, "c")], body: "moved"))
    other.mock.route("/c", answer: .status(308, headers: ["Location": address(shop.mock, "d")]))
    shop.mock.route("/d", answer: .text("there"))
    let task = URLTask(shop.url("a"), headers: ["Cookie": "a=1", "X-Own": "1"])
    let result = try await task.on(shop.server).response()
    #expect(result.text == "there" && result.response.url == shop.url("d"))
    #expect(result.response.redirects.map(\.status.code) == [302, 307, 308])
    let sent = shop.mock.requests + other.mock.requests
    #expect(sent.map { $0.headers[.authorization] } == ["s3cret", "s3cret", nil, nil])
    #expect(sent.map { $0.headers[.cookie] } == ["a=1", "a=1", nil, nil])
    #expect(sent.allSatisfy { $0.headers["X-Own"] == "1" })
    #expect(shop.mock.requests.map(\.indexOnConnection) == (keepsConnections ? [0, 1, 2] : [0, 0, 0]) && shop.isQuiet)
  }

  // RFC 9110 §5.5: non-ASCII bytes are opaque, so the same bytes are requested, whether or not they are UTF-8.
  @Test(
    arguments: [
      ([0xE9], "%E9"), ([0xC3, 0xA9], "%C3%A9"), ([0xE9, 0x2F, 0xC3, 0xA9, 0x3F, 0xFC], "%E9/%C3%A9?%FC"),
      ([0xFF, 0x80], "%FF%80"), ([0x83, 0x65], "%83e"),
    ] as [([UInt8], String)])
  func `requests a raw byte in a redirect unchanged`(bytes: [UInt8], escaped: String) async throws {
    let shop = try Shop()
    shop.mock.enqueue(
      .raw(Data("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /caf".utf8 + bytes + "\r\n\r\n".utf8)))
    let response = try await URLTask(shop.url("moved")).accepting(.all).on(shop.server).run()
    #expect(shop.mock.requests.last?.target == "/caf\(escaped)" && shop.mock.requestCount == 2)
    #expect(response.redirects.first?.headers[.location]?.utf8.allSatisfy { $0 < 0x80 } != (bytes == [0xC3, 0xA9]))
  }

  @Test func `requests a raw byte in a next link unchanged`() async throws {
    struct Listing: PayloadDownloadingTask {
      typealias DownloadPayload = [Int]
      let path = "list"
    }
    let shop = try Shop()
    let field = "Link: </caf".utf8 + [0xE9] + ">; rel=next; title=\"".utf8 + [0xE9] + "\"\r\n".utf8
    shop.mock.enqueue(.raw(Data("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n".utf8 + field + "\r\n[1]".utf8)))
    shop.mock.enqueue(.json("[2]"))
    var titles: [String?] = []
    for try await page in Listing().on(shop.server).pages() {
      titles.append(page.response.links.first?.parameters["title"])
    }
    #expect(shop.mock.requests.map(\.target) == ["/list", "/caf%E9"] && titles == ["é", nil])
  }

  @Test func `requests a raw byte in an upload's Location unchanged`() async throws {
    let shop = try Shop()
    let head = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\nLocation: /files/caf"
    shop.mock.enqueue(.raw(Data(head.utf8 + [0xE9] + "\r\n\r\n".utf8)))
    shop.mock.enqueue(.status(.noContent, headers: ["Upload-Offset": "3"]))
    let task = URLTask(shop.url("files")).on(shop.server)
    try await ResumableUpload(named: "a", length: 3, with: task, by: .tus) { _, _ in Data("abc".utf8) }.run()
    let fields = "X-Goog-Upload-Status: active\r\nX-Goog-Upload-URL: /files/caf"
    shop.mock.enqueue(.raw(Data("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\(fields)".utf8 + [0xE9] + "\r\n\r\n".utf8)))
    shop.mock.enqueue(.status(.ok, headers: ["X-Goog-Upload-Status": "final"]))
    try await ResumableUpload(named: "a", length: 3, with: task, by: .google) { _, _ in Data("abc".utf8) }.run()
    #expect(shop.mock.requests.map(\.target) == ["/files", "/files/caf%E9", "/files", "/files/caf%E9"])
  }

  @Test func `discards the endless body of a redirect`() async throws {
    let shop = try Shop()
    let chunk = String(repeating: "x", count: 1024)
    let head = "HTTP/1.1 302 Found\r\nLocation: /widgets/7\r\n\r\n"
    shop.mock.enqueue(.raw(Data((head + String(repeating: chunk, count: 4096)).utf8)))
    let body = try await URLTask(shop.url("moved")).on(shop.server).downloadData()
    #expect(!body.isEmpty && shop.mock.requestCount == 2)
    #expect(await eventually { shop.isQuiet })
  }

  @Test(arguments: [false, true], [false, true]) func `waits at most one second for the body of a redirect`(
    isSameOrigin: Bool, isAccepted: Bool
  ) async throws {
    let (shop, clock) = (try Shop(), ManualClock())
    shop.mock.route("/slow") { _ in
      MockAnswer.status(302, headers: ["Location": "/widgets/7"], body: "moved").bodyAfter(.seconds(3600))
    }
    let server = Server(Remote(shop.mock.url), manager: TaskManager(clock: CallClock(clock)))
    let size = Shared(0)
    let call = Task {
      let data = try await URLTask(shop.url("slow")).on(server).redirects(isSameOrigin ? .sameOrigin : .follow)
        .accepting(isAccepted ? .all : .inherited).downloadData()
      size.withLock { $0 = data.count }
    }
    #expect(await eventually { clock.sleeperCount == 1 })
    clock.advance(by: .seconds(1))
    #expect(await eventually { size.withLock { $0 > 0 } })
    try await call.value
  }

  @Test(arguments: [307, 308]) func `resends a body from a file or closure after a redirect`(code: Int) async throws {
    let shop = try Shop()
    shop.mock.route("/moved", answer: .status(HTTPStatus(code), headers: ["Location": "/echo/x"]))
    let data = Data((0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      try data.write(to: file)
      let chunks: @Sendable () -> AsyncStream<Data> = {
        AsyncStream { continuation in
          for start in stride(from: 0, to: data.count, by: 1 << 20) {
            continuation.yield(data[start..<(start + (1 << 20))])
          }
          continuation.finish()
        }
      }
      for body in [HTTPBody.file(file), .stream(chunks), .bytes(data)] {
        let task = URLTask(shop.url("moved"), method: .put, body: body)
        #expect(try await task.on(shop.server).downloadData() == data)
      }
    }
    #expect(shop.mock.requests.map(\.bodyLength) == Array(repeating: data.count, count: 6))
  }

  @Test func `a redirect that needs a one-shot body again does not send an empty body`() async throws {
    let shop = try Shop()
    shop.mock.route("/moved", answer: .status(307, headers: ["Location": "/echo/x"]))
    let body = HTTPBody.once(
      AsyncStream {
        $0.yield(Data("once".utf8)); $0.finish()
      })
    let error = await #expect(throws: TaskError.self) {
      try await URLTask(shop.url("moved"), method: .post, body: body).on(shop.server).run()
    }
    #expect(error?.code == .bodyNotReplayable && error?.status == 307 && shop.mock.requestCount == 1)
  }

  @Test func `sends the complete body again after a redirect that arrives during the upload`() async throws {
    let shop = try Shop()
    shop.mock.route("/early", answer: .status(307, headers: ["Location": "/echo/x"]).earlyAnswer())
    let data = Data(count: 8 << 20)
    let task = URLTask(shop.url("early"), method: .put, body: .bytes(data))
    #expect(try await task.on(shop.server).downloadData().count == data.count)
  }

  // RFC 9110 §15.4.4: "redirecting the user agent to a different resource, … which is intended to provide an indirect
  // response to the original request".
  @Test func `RFC 9110 §15.4.4: a POST redirected with 303 becomes a GET without a body`() async throws {
    let shop = try Shop()
    shop.mock.route("/form", answer: .status(303, headers: ["Location": "/echo/x"]))
    let task = URLTask(shop.url("form"), headers: ["Content-Language": "en"], body: .text("name=x"))
    #expect(try await task.on(shop.server).downloadData().isEmpty)
    let last = try #require(shop.mock.requests.last)
    #expect(last.method == .get && last.bodyLength == 0)
    #expect(![.contentType, .contentLength, "Content-Language"].contains { last.headers.contains($0) })
  }

  @Test func `RFC 3986 §5.2: resolves a relative path, keeping its escapes and the HEAD method`() async throws {
    let shop = try Shop()
    shop.mock.route("/a/b/", answer: .status(303, headers: ["Location": "next%2Fone?q=%20"]))
    shop.mock.route("/a/b/:name", answer: .text("next"))
    let url = try #require(URL(string: "\(shop.mock.url)/a/b/"))
    let response = try await URLTask(url, method: .head).on(shop.server).run()
    #expect(shop.mock.requests.map(\.target) == ["/a/b/", "/a/b/next%2Fone?q=%20"])
    #expect(shop.mock.requests.map(\.method) == [.head, .head] && response.status == .ok)
    #expect(shop.mock.connectionCount == 1 || !keepsConnections)
  }

  @Test func `downloads and streams follow redirects to the final URL`() async throws {
    let shop = try Shop()
    shop.mock.route("/moved", answer: .status(301, headers: ["Location": "widgets/7"]))
    let task = URLTask(shop.url("moved")).on(shop.server)
    try await withFolder { folder in
      let file = folder.appendingPathComponent("widget.json")
      let result = try await task.download(to: file)
      #expect(try JSONDecoder().decode(Widget.self, from: Data(contentsOf: file)) == Widget())
      #expect(result.response.redirects.count == 1)
    }
    let response = try await task.stream()
    #expect(response.url == shop.url("widgets/7") && response.redirects.count == 1)
    #expect(try await JSONDecoder().decode(Widget.self, from: response.body.collect()) == Widget())
    #expect(await eventually { shop.isQuiet })
  }

  @Test func `detects a redirect loop between two servers after two requests`() async throws {
    let (shop, other) = (try Shop(), try Shop())
    shop.mock.route("/a", answer: .status(302, headers: ["Location": address(other.mock, "b")]))
    other.mock.route("/b", answer: .status(302, headers: ["Location": address(shop.mock, "a")]))
    let error = await #expect(throws: TaskError.self) { try await URLTask(shop.url("a")).on(shop.server).run() }
    #expect(error?.code == .tooManyRedirects && shop.isQuiet)
    #expect(shop.mock.requestCount == 1 && other.mock.requestCount == 1)
  }

  @Test func `follows a Location with unescaped characters`() async throws {
    let shop = try Shop()
    let head = "HTTP/1.1 302 Found\r\nLocation: ../Zoë's a[0]/ü?q=x y\r\nContent-Length: 0\r\n\r\n"
    shop.mock.enqueue(.raw(Data(head.utf8)))
    shop.mock.route("/*", answer: .text("found"))
    try await URLTask(shop.url("a/b/c")).on(shop.server).run()
    #expect(shop.mock.requests.last?.target == "/a/Zo%C3%AB's%20a%5B0%5D/%C3%BC?q=x%20y")
  }

  @Test func `hundreds of concurrent calls with redirects complete with a few slots`() async throws {
    let (shop, other) = (try Shop(limits: ThrottleLimits(perHost: 2)), try Shop())
    shop.mock.route("/a", answer: .status(302, headers: ["Location": address(other.mock, "b")], body: "moved"))
    other.mock.route("/b", answer: .status(302, headers: ["Location": address(shop.mock, "widgets/7")], body: "moved"))
    let tasks = Array(repeating: URLTask(shop.url("a")), count: 300)
    var count = 0
    for await (_, result) in shop.server.results(of: tasks, limit: 50) {
      count += try result.get().isEmpty ? 0 : 1
    }
    #expect(count == 300)
    // The servers may accept a new connection before they notice that the old connection has closed.
    #expect(shop.mock.peakConnections <= 3 && other.mock.peakConnections <= 3 || !keepsConnections)
    #expect(await eventually { shop.isQuiet })
  }
}
