import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct BadInputTests {
  /// Returns the error of a call that must fail. Its description must be a single line that contains `words`.
  private func failure(
    of task: some ServerTask, on shop: Shop, _ code: TaskError.Code, naming words: String...
  ) async throws -> TaskError {
    let error = try #require(
      await #expect(throws: TaskError.self) { try await task.on(shop.server).retry(.never).run() })
    check(error, code, words)
    #expect(await eventually { shop.isQuiet })
    return error
  }

  private func check(_ error: TaskError, _ code: TaskError.Code, _ words: [String]) {
    #expect(error.code == code, "\(error)")
    #expect(!error.description.contains("\n"))
    for word in words { #expect(error.description.contains(word), "\(error) does not contain '\(word)'") }
  }

  @Test func `an unknown host throws .cannotResolveHost`() async throws {
    let shop = try Shop()
    let task = URLTask(try #require(URL(string: "https://shop.invalid/x")))
    let error = try await failure(of: task, on: shop, .cannotResolveHost, naming: "https://shop.invalid/x", "GET")
    #expect(error.wasNotSent && error.isOffline)
  }

  @Test func `a closed port throws .cannotConnect`() async throws {
    let shop = try Shop()
    let mock = try MockServer()
    let url = mock.url
    mock.stop()
    let error = try await failure(of: URLTask(url), on: shop, .cannotConnect, naming: url.absoluteString, "127.0.0.1")
    #expect(error.wasNotSent && error.isOffline && error.phase == .connecting)
  }

  @Test func `a malformed remote throws .badURL`() async throws {
    let shop = try Shop()
    try await shop.server.setRemote(Remote("htp:/nowhere", name: "mine"))
    _ = try await failure(of: PlainTask(), on: shop, .badURL, naming: "htp:/nowhere")
  }

  @Test func `invalid JSON throws .decodingFailed`() async throws {
    let shop = try Shop()
    shop.mock.enqueue(.json(#"{"id":7,"name":"#))
    let error = try #require(
      await #expect(throws: TaskError.self) { try await GetWidget().on(shop.server).download() })
    check(error, .decodingFailed, ["/widgets/7", "Widget", "15 bytes"])
  }

  @Test func `the error for a 404 contains its body`() async throws {
    let shop = try Shop()
    shop.mock.enqueue(.json(#"{"reason":"none"}"#, status: 404))
    let error = try await failure(of: PlainTask(), on: shop, .badStatus, naming: "404 Not Found", "/plain")
    #expect(error.status == 404 && error.bodyText == #"{"reason":"none"}"#)
    #expect(error.headers[.contentType] == "application/json")
  }

  @Test func `decodes the server's problem details`() async throws {
    let shop = try Shop()
    let problem = Data(#"{"title":"Out of stock","status":409,"detail":"none left"}"#.utf8)
    shop.mock.enqueue(.data(problem, type: .problem, status: 409))
    let error = try await failure(of: PlainTask(), on: shop, .badStatus, naming: "409")
    #expect(error.problem?.title == "Out of stock" && error.problem?.detail == "none left")
  }

  @Test func `a 500 without a body throws .badStatus`() async throws {
    let shop = try Shop()
    shop.mock.enqueue(.status(500))
    let error = try await failure(of: PlainTask(), on: shop, .badStatus, naming: "500 Internal Server Error")
    #expect(error.body.isEmpty && error.status == 500)
  }

  @Test func `a truncated body throws .truncatedBody`() async throws {
    let shop = try Shop()
    shop.mock.enqueue(.truncated(body: Data(count: 1000), after: 10))
    _ = try await failure(of: PlainTask(), on: shop, .truncatedBody, naming: "/plain")
  }

  @Test func `a non-HTTP response throws .badResponse`() async throws {
    let shop = try Shop()
    shop.mock.enqueue(.raw(Data("SSH-2.0-OpenSSH\r\n\r\n".utf8)))
    _ = try await failure(of: PlainTask(), on: shop, .badResponse, naming: "/plain")
  }

  @Test func `a header with a line break throws .badRequest`() async throws {
    let shop = try Shop()
    let task = URLTask(shop.url("x"), headers: ["X-Mine": "a\r\nInjected: b"])
    _ = try await failure(of: task, on: shop, .badRequest, naming: "X-Mine", "line break")
    #expect(shop.mock.requestCount == 0)
  }

  @Test(arguments: ["missing", "folder"]) func `an unreadable upload file throws .unreadableBody`(kind: String)
    async throws
  {
    try await withFolder { folder in
      let shop = try Shop()
      let file = kind == "folder" ? folder : folder.appendingPathComponent("missing")
      let task = URLTask(shop.url("echo/x"), body: .file(file))
      _ = try await failure(of: task, on: shop, .unreadableBody, naming: file.path)
      #expect(shop.mock.requests.allSatisfy { !$0.isBodyComplete })
    }
  }

  @Test func `a disabled server throws .disabled`() async throws {
    let shop = try Shop { $0.disabled = true }
    _ = try await failure(of: PlainTask(), on: shop, .disabled, naming: "disabled", "127.0.0.1")
    #expect(shop.mock.requestCount == 0)
  }
}
