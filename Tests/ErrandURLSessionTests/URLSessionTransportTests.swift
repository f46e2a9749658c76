import ErrandTesting
import Foundation
import Testing

@testable import Errand
@testable import ErrandURLSession

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// End-to-end tests that FoundationNetworking survives. They never cancel while a response is arriving, because that
/// can deadlock or crash FoundationNetworking. If it deadlocks anyway, only that test fails.
@Suite(.timeLimit(.minutes(1)))
struct URLSessionTransportTests {
  private let server: MockServer
  private let transport = BoundedTransport(URLSessionTransport())

  init() throws { server = try MockServer() }

  /// Sends the request and reads the body, because releasing an unread body would cancel the exchange.
  @discardableResult
  private func carry(_ request: HTTPRequest) async throws -> (response: HTTPResponse, body: Data) {
    let response = try await transport.send(request)
    return (response, try await response.body.collect())
  }

  private func url(_ path: String) -> URL { server.url.appending(path: path) }

  @Test func `a GET returns the status, headers and body`() async throws {
    server.route(.get, "/a", answer: .json(#"{"id":7}"#).header("X-Mark", "yes"))
    let response = try await transport.send(HTTPRequest(.get, url("a"), headers: ["X-Sent": "1"]))
    #expect(response.status == .ok)
    #expect(response.headers["x-mark"] == "yes")
    #expect(try await response.body.collect() == Data(#"{"id":7}"#.utf8))
    let request = try #require(server.requests.first)
    #expect(request.headers["X-Sent"] == "1")
    #expect(request.headers[.acceptEncoding] == "identity")
  }

  @Test func `a POST sends its bytes with their type and length`() async throws {
    server.route(.post, "/a", answer: .status(201))
    let body = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
    let response = try await carry(HTTPRequest(.post, url("a"), body: .bytes(body))).response
    #expect(response.status == .created)
    let request = try #require(server.requests.first)
    #expect(request.body == body)
    #expect(request.headers[.contentType] == "application/octet-stream")
    #expect(request.headers[.contentLength] == "200000")
  }

  @Test func `sends an empty body with Content-Length 0`() async throws {
    server.route(.post, "/a", answer: .status(200))
    try await carry(HTTPRequest(.post, url("a"), body: .bytes(Data())))
    #expect(server.requests.first?.headers[.contentLength] == "0")
  }

  @Test func `a streamed body arrives completely`() async throws {
    server.route(.put, "/a", answer: .status(200))
    let body = HTTPBody.stream(length: 6) {
      AsyncStream<Data> { chunks in
        chunks.yield(Data("abc".utf8))
        chunks.yield(Data("def".utf8))
        chunks.finish()
      }
    }
    try await carry(HTTPRequest(.put, url("a"), body: body))
    #expect(server.requests.first?.body == Data("abcdef".utf8))
  }

  @Test func `throws if a stream is shorter than its stated length`() async throws {
    let body = HTTPBody.stream(length: 7) { AsyncStream<Data> { $0.finish() } }
    await #expect { try await transport.send(HTTPRequest(.put, url("a"), body: body)) } throws: {
      ($0 as? TaskError)?.code == .bodyLengthMismatch
    }
  }

  #if os(Linux)
    @Test func `sends a file of unknown size completely`() async throws {
      server.route(.put, "/a", answer: .status(200))
      let file = URL(fileURLWithPath: "/proc/version")
      try await carry(HTTPRequest(.put, url("a"), body: .file(file)))
      let content = try Data(contentsOf: file)
      #expect(server.requests.first?.body == content && !content.isEmpty)
    }
  #endif

  @Test func `sends a file and throws if the file is missing`() async throws {
    server.route(.put, "/a", answer: .status(200))
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data("from a file".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }  // a leftover file is harmless
    try await carry(HTTPRequest(.put, url("a"), body: .file(file)))
    #expect(server.requests.first?.body == Data("from a file".utf8))
    let missing = HTTPRequest(.put, url("a"), body: .file(URL(fileURLWithPath: "/nowhere/at/all")))
    await #expect { try await transport.send(missing) } throws: {
      ($0 as? TaskError)?.code == .unreadableBody && ($0 as? TaskError)?.wasNotSent == true
    }
  }

  @Test func `returns the body of a 404`() async throws {
    server.route("/a", answer: .text("nothing here", status: .notFound))
    let response = try await transport.send(HTTPRequest(.get, url("a")))
    #expect(response.status == .notFound)
    #expect(try await response.body.collect() == Data("nothing here".utf8))
  }

  @Test func `rejects a request with an address policy, which URLSession can't enforce`() async throws {
    var options = TransferOptions()
    options.addressPolicy = .publicOnly
    let request = HTTPRequest(.get, url("a"), options: options)
    let error = await #expect(throws: TaskError.self) { try await transport.send(request) }
    #expect(error?.code == .transportUnavailable && server.connectionCount == 0)
  }

  @Test func `does not follow a redirect`() async throws {
    server.route("/a", answer: .status(302, headers: ["Location": "/b"], body: "moved"))
    server.route("/b", answer: .text("followed"))
    let response = try await transport.send(HTTPRequest(.get, url("a")))
    #expect(response.status.code == 302)
    #expect(response.headers[.location] == "/b")
    #expect(try await response.body.collect() == Data("moved".utf8))
    #expect(server.requestCount == 1)
  }

  @Test func `neither stores nor sends cookies`() async throws {
    server.route("/a", answer: .status(200, headers: ["Set-Cookie": "a=1", "Set-Cookie": "b=2; Path=/"]))
    for _ in 1...2 {
      let (response, _) = try await carry(HTTPRequest(.get, url("a")))
      #expect(response.headers.values(for: .setCookie) == ["a=1", "b=2; Path=/"])
    }
    #expect(server.requests.allSatisfy { !$0.headers.contains(.cookie) })
  }

  @Test func `a refused connection throws an error with wasNotSent set`() async throws {
    let closed = try MockServer()
    closed.stop()
    await #expect { try await transport.send(HTTPRequest(.post, closed.url, body: .text("x"))) } throws: {
      let error = $0 as? TaskError
      return error?.code == .cannotConnect && error?.wasNotSent == true && error?.phase == .connecting
    }
  }

  @Test func `throws .truncatedBody if a body ends early`() async throws {
    server.route("/a", answer: .truncated(body: Data(count: 1000), after: 400))
    let response = try await transport.send(HTTPRequest(.get, url("a")))
    await #expect { try await response.body.collect() } throws: { ($0 as? TaskError)?.code == .truncatedBody }
  }

  @Test func `rejects schemes other than http and https`() async throws {
    let file = try #require(URL(string: "file:///etc/hostname"))
    await #expect { try await transport.send(HTTPRequest(.get, file)) } throws: { ($0 as? TaskError)?.code == .badURL }
  }

  @Test func `copies the app's configuration without its cookies and cache`() {
    let mine = URLSessionConfiguration.default
    mine.timeoutIntervalForRequest = 17
    let cache = mine.urlCache
    let copy = URLSessionLane.copy(of: mine)
    #expect(copy.httpCookieStorage == nil && copy.urlCache == nil && copy.urlCredentialStorage == nil)
    #expect(copy.timeoutIntervalForRequest == 17)
    #expect(mine.urlCache === cache && mine.httpCookieStorage != nil)
  }

  @Test func `sends the header fields of the app's configuration`() async throws {
    let mine = URLSessionConfiguration.default
    mine.httpAdditionalHeaders = ["X-Client": "kiosk"]
    server.route("/a", answer: .text("a"))
    let configured: URLSessionTransport = .urlSession(mine)
    let response = try await BoundedTransport(configured).send(HTTPRequest(.get, url("a")))
    _ = try await response.body.collect()
    #expect(server.requests.last?.headers["X-Client"] == "kiosk")
  }

  @Test func `a HEAD response has a length and no body`() async throws {
    server.route("/a", answer: .text("nine bytes"))
    let response = try await transport.send(HTTPRequest(.head, url("a")))
    #expect(response.headers[.contentLength] == "10")
    #expect(try await response.body.collect().isEmpty)
  }

  @Test func `treats a 401 like any other response`() async throws {
    let challenge: HTTPHeaders = ["WWW-Authenticate": "Basic realm=\"x\""]
    server.route("/a", answer: .status(.unauthorized, headers: challenge, body: "who are you?"))
    let response = try await transport.send(HTTPRequest(.get, url("a")))
    #expect(response.status == .unauthorized)
    #expect(try await response.body.collect() == Data("who are you?".utf8))
    #expect(server.requestCount == 1)
  }

  @Test func `the firstByte timeout error names its timer`() async throws {
    server.route("/a", answer: .hang)
    var options = TransferOptions()
    options.timeouts = Timeouts(firstByte: .milliseconds(150))
    let request = HTTPRequest(.get, url("a"), options: options)
    await #expect { try await transport.send(request) } throws: {
      let error = $0 as? TaskError
      return error?.timer == .firstByte && error?.limit == .milliseconds(150) && error?.wasNotSent == false
    }
  }

  @Test func `the idle timeout error names its timer`() async throws {
    server.route("/a", answer: .text("late").bodyAfter(.seconds(30)))
    var options = TransferOptions()
    options.timeouts = Timeouts(idle: .seconds(1))
    let response = try await transport.send(HTTPRequest(.get, url("a"), options: options))
    await #expect { try await response.body.collect() } throws: {
      ($0 as? TaskError)?.timer == .idle && ($0 as? TaskError)?.phase == .receiving
    }
  }

  #if !canImport(Darwin)
    @Test func `rejects a pinned host if its keys can't be checked`() async throws {
      let pinned = BoundedTransport(URLSessionTransport(trust: ServerTrust(pins: ["127.0.0.1": ["sha256/AAAA"]])))
      var request = HTTPRequest(.get, url("a"))
      await #expect { try await pinned.send(request) } throws: { ($0 as? TaskError)?.code == .transportUnavailable }
      request.options.pins = ["127.0.0.1": ["sha256/AAAA"]]
      await #expect { try await BoundedTransport(URLSessionTransport()).send(request) } throws: {
        ($0 as? TaskError)?.code == .transportUnavailable
      }
      #expect(server.requestCount == 0)
    }
  #endif
}
