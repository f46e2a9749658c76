#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// The server receives either the exact request or nothing.
  @Suite(.balancedEvents, .timeLimit(.minutes(1)))
  struct RequestsAsSentTests {
    private let mock: MockServer
    private let transport: CurlTransport

    init() throws {
      mock = try MockServer()
      mock.route("/*", answer: .text("answer"))
      transport = try CurlTransport()
    }

    @Test(arguments: [
      ["*/*"], ["*/*", "text/html"], ["*/*", "*/*"], ["text/html", "*/*"], ["application/json"], [],
    ]) func `sends every Accept header in order`(values: [String]) async throws {
      let headers = HTTPHeaders(values.map { .init(.accept, $0) } + [.init("X-Last", "1")])
      let request = HTTPRequest(.get, mock.url.appending(path: "accept"), headers: headers)
      _ = try await transport.send(request).body.collect()
      let seen = try #require(mock.requests.last).headers
      #expect(seen.filter { $0.name == .accept }.map(\.value) == values)
    }

    private func body(_ kind: String) -> HTTPBody {
      switch kind {
      case "bytes": .text("hello")
      case "no bytes": .bytes(Data())
      case "stream":
        .stream {
          AsyncStream {
            $0.yield(Data("hello".utf8)); $0.finish()
          }
        }
      default: .empty
      }
    }

    @Test(
      arguments: [
        "GET", "HEAD", "OPTIONS", "TRACE", "DELETE", "POST", "PUT", "PATCH", "QUERY", "CONNECT", "PRI", "PURGE",
        "M-SEARCH",
        "get", "head", "post", "connect",
      ], ["nothing", "no bytes", "bytes", "stream"])
    func `sends any method and body unchanged, or rejects the request before connecting`(
      method: String, kind: String
    ) async throws {
      let isRefused =
        method == "CONNECT" || method == "PRI" || (["HEAD", "TRACE"].contains(method) && kind != "nothing")
      let request = HTTPRequest(HTTPMethod(method), mock.url.appendingPathComponent("x"), body: body(kind))
      do {
        let response = try await transport.send(request)
        #expect(try await response.body.collect() == Data((method == "HEAD" ? "" : "answer").utf8))
        #expect(!isRefused)
      } catch let error as TaskError {
        #expect(isRefused && error.code == .badRequest && error.wasNotSent, "\(error)")
      }
      #expect(mock.connectionCount == (isRefused ? 0 : 1))
      #expect(mock.requests.map(\.method.rawValue) == (isRefused ? [] : [method]))
      guard !isRefused else { return }
      #expect(mock.requests.first?.body == Data((kind == "bytes" || kind == "stream" ? "hello" : "").utf8))
      // The connection still works, and the next response belongs to the next request.
      let next = try await transport.send(HTTPRequest(.get, mock.url.appendingPathComponent("y")))
      #expect(next.isConnectionReused == keepsConnections)
      #expect(mock.requests.map(\.target) == ["/x", "/y"])
    }

    @Test func `sends a stream with its stated length, or in chunks if its length is unknown`() async throws {
      let chunks: @Sendable () -> AsyncStream<Data> = {
        AsyncStream {
          $0.yield(Data("hello".utf8)); $0.finish()
        }
      }
      let bodies: [(body: HTTPBody, length: String?)] = [
        (.stream(length: 5, chunks), "5"), (.once(chunks(), length: 5), "5"), (.stream(chunks), nil),
        (.once(chunks()), nil),
      ]
      for (body, length) in bodies {
        _ = try await transport.send(HTTPRequest(.put, mock.url, body: body)).body.collect()
        let request = try #require(mock.requests.last)
        #expect(request.headers[.contentLength] == length && request.body == Data("hello".utf8))
        #expect(request.headers[.transferEncoding] == (length == nil ? "chunked" : nil))
      }
    }

    @Test func `sends a header with an empty or whitespace-only value as empty`() async throws {
      let headers: HTTPHeaders = ["X-Empty": "", "X-Blank": "  ", "X-Tab": "\t", "X-Full": "a"]
      _ = try await transport.send(HTTPRequest(.get, mock.url, headers: headers))
      let seen = try #require(mock.requests.first?.headers)
      for (name, value) in [("X-Empty", ""), ("X-Blank", ""), ("X-Tab", ""), ("X-Full", "a")] {
        #expect(seen[HTTPHeaderName(name)] == value, "\(name)")
      }
    }

    @Test func `sends a head of the maximum size and rejects a larger head before connecting`()
      async throws
    {
      let field = HTTPHeaders.Field("X-Large", "")
      let room = HTTPRequest.maximumHeadSize - "GET".utf8.count - mock.url.absoluteString.utf8.count - field.size
      func request(_ count: Int) -> HTTPRequest {
        HTTPRequest(.get, mock.url, headers: ["X-Large": String(repeating: "v", count: count)])
      }
      #expect(try await transport.send(request(room)).status == .ok)
      #expect(mock.requests.first?.headers["X-Large"]?.utf8.count == room)
      let fresh = try CurlTransport()
      for large in [room + 1, 1 << 20, 10 << 20] {
        let error = await #expect(throws: TaskError.self) { try await fresh.send(request(large)) }
        #expect(error?.code == .badRequest && error?.wasNotSent == true, "\(String(describing: error?.code))")
        #expect(error?.reason.contains("X-Large") == true && error?.description.utf8.count ?? 0 < 500)
      }
      #expect(mock.connectionCount == 1)
    }

    @Test(arguments: [100_000, 1 << 20, 9 << 20])
    func `a URL that is too long throws .badURL`(count: Int) async throws {
      let url = try #require(URL(string: "\(mock.url)/?q=\(String(repeating: "x", count: count))"))
      let error = await #expect(throws: TaskError.self) { try await transport.send(HTTPRequest(.get, url)) }
      #expect(error?.code == .badURL && error?.wasNotSent == true, "\(String(describing: error?.code))")
      #expect(error?.description.utf8.count ?? 0 < 500)
      #expect(mock.connectionCount == 0)
    }

    @Test(arguments: [
      ("127.1", "127.0.0.1"), ("0x7f.0.0.1", "127.0.0.1"), ("2130706433", "127.0.0.1"), ("LOCALHOST.", "localhost"),
      ("loc%61lhost", "localhost"), ("127.0.0.1.", "127.0.0.1"), ("user:word@Localhost", "localhost"),
    ])
    func `normalizes the host and reuses the connection`(written: String, form: String)
      async throws
    {
      let port = try #require(mock.url.port)
      var configuration = CurlTransport.Configuration()
      configuration.addresses = ["localhost:\(port)": "127.0.0.1"]
      let transport = try CurlTransport(configuration)
      for (index, host) in [form, written, form].enumerated() {
        let url = URL(string: "http://\(host):\(port)/a?b=c", encodingInvalidCharacters: false)
        let response = try await transport.send(HTTPRequest(.get, try #require(url)))
        // libcurl does not share connections between users.
        #expect(response.isConnectionReused == (index > 0 && keepsConnections) || written.contains("@"))
      }
      #expect(mock.requests.map { $0.headers[.host] } == Array(repeating: "\(form):\(port)", count: 3))
      #expect(mock.requests.map(\.target) == Array(repeating: "/a?b=c", count: 3))
    }

    @Test(arguments: ["127.999.1.1", "127.0.0.1%00.evil.test", "localhost%2Fx", "localhost%0d%0aX-Evil:1"])
    func `rejects an invalid host`(host: String) async throws {
      let port = try #require(mock.url.port)
      guard let url = URL(string: "http://\(host):\(port)/", encodingInvalidCharacters: false) else { return }
      let error = await #expect(throws: TaskError.self) { try await transport.send(HTTPRequest(.get, url)) }
      #expect(error?.code == .badURL && error?.wasNotSent == true, "\(String(describing: error))")
      #expect(mock.connectionCount == 0)
    }

    @Test(arguments: ["some\r\nX-Evil: 1", "some\nbody", "some\0body"], [false, true])
    func `a Digest credential can't inject header lines`(evil: String, isPassword: Bool) async throws {
      mock.enqueue(.status(401, headers: [.wwwAuthenticate: #"Digest realm="r", nonce="n", qop="auth""#]))
      var request = HTTPRequest(.get, mock.url)
      request.options.digest = Credential(user: isPassword ? "somebody" : evil, password: isPassword ? evil : "word")
      let error = await #expect(throws: TaskError.self) { try await transport.send(request) }
      #expect(error?.code == .badRequest && error?.wasNotSent == true, "\(String(describing: error))")
      #expect(error?.description.contains("Evil") == false && mock.connectionCount == 0)
    }

    @Test(.keepsConnections) func `does not reuse a connection after its lifetime`() async throws {
      var configuration = CurlTransport.Configuration()
      configuration.connectionLifetime = .seconds(1)
      let transport = try CurlTransport(configuration)
      let start = ContinuousClock.now
      while mock.connectionCount < 2, ContinuousClock.now - start < .seconds(30) {
        _ = try await transport.send(HTTPRequest(.get, mock.url)).body.collect()
      }
      #expect(mock.connectionCount == 2)
    }
  }
#endif
