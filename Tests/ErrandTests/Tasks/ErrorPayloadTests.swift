import Errand
import ErrandTesting
import Foundation
import Testing

/// The payload of an error response, whose type is set by the task, the server or the caller.
@Suite(.timeLimit(.minutes(1))) struct ErrorPayloadTests {
  private struct Problem: Codable, Equatable {
    var code = "E7"
    var hint = "try later"
  }

  private struct Other: Codable { let code: String }

  private struct Order: ServerTask { typealias ErrorPayload = Problem }

  private struct Words: Decodable, CustomStringConvertible {
    let code: String
    var description: String { "shop error \(code)" }
  }

  private func error(
    _ task: some ServerTask, _ body: String = #"{"code":"E7","hint":"try later"}"#,
    configure: (inout ServerConfiguration) -> Void = { _ in }
  ) async throws -> TaskError {
    let stub = StubServer(.status(422)) { configure(&$0) }
    let server = Server(
      "https://shop.test", configuration: stub.server.configuration,
      transport: StubTransport { .json(body, status: 422, for: $0) })
    return try #require(await #expect(throws: TaskError.self) { try await task.on(server).run() })
  }

  @Test func `the error contains the task's error payload`() async throws {
    let error = try await error(Order())
    #expect(error.payload(as: Problem.self) == Problem())
    #expect(
      error.reason.hasSuffix(#"{"code":"E7","hint":"try later"}"#),
      "the reason quotes the body, because the payload has no description")
  }

  @Test func `a modifier's error payload overrides the task's, which overrides the server's`() async throws {
    #expect(try await error(PlainTask()) { $0.errorPayload = Words.self }.reason.hasSuffix("shop error E7"))
    #expect(try await error(Order()) { $0.errorPayload = Words.self }.payload(as: Problem.self) == Problem())
    #expect(try await error(Order().errorPayload(Words.self)).reason.hasSuffix("shop error E7"))
  }

  @Test func `decodes the requested type if no error payload type is set`() async throws {
    let error = try await error(PlainTask())
    #expect(error.payload(as: Other.self)?.code == "E7" && error.payload(as: [Int].self) == nil)
  }

  @Test func `a body that can't be decoded leaves the error unchanged`() async throws {
    let error = try await error(Order(), "<html>sorry</html>")
    #expect(error.code == .badStatus && error.payload(as: Problem.self) == nil && error.reason.contains("sorry"))
  }

  @Test func `redacts payload secrets in the error description`() async throws {
    let error = try await error(Order(), #"{"code":"E7","hint":"https://a.test/?token=hunter2"}"#)
    #expect(!error.description.contains("hunter2") && error.payload(as: Problem.self)?.hint.contains("hunter2") == true)
  }

  @Test func `redacts an authorization code in URLs, forms and other bodies`() async throws {
    let urls = try await error(PlainTask(), #"{"code":"E7","next":"https://a.test/cb?state=1&code=hunter2"}"#)
    #expect(urls.description.contains("E7") && !urls.description.contains("hunter2"))
    for (body, type) in [
      ("error=bad&code=hunter2", "application/x-www-form-urlencoded"),
      ("Bad request: https://a.test/cb?code=hunter2&state=1", "text/html"),
    ] {
      let server = Server(
        "https://shop.test",
        transport: StubTransport {
          HTTPResponse(400, url: $0.url, headers: [.contentType: type], body: HTTPResponseBody(Data(body.utf8)))
        })
      let error = await #expect(throws: TaskError.self) { try await PlainTask().on(server).run() }
      #expect(error?.description.contains("hunter2") == false)
    }
    let odd = try await decodingError(of: Data(#"{"code":"hunter2","redirect_uri":"/"}"#.utf8), "application/json")
    #expect(odd.reason.contains("code") && !odd.reason.contains("hunter2"))
  }

  /// Returns the error from decoding `body` as a list of numbers.
  private func decodingError(of body: Data, _ type: String?) async throws -> TaskError {
    let server = Server(
      "https://shop.test",
      transport: StubTransport {
        HTTPResponse(
          url: $0.url, headers: HTTPHeaders(type.map { [.init(.contentType, $0)] } ?? []), body: HTTPResponseBody(body))
      })
    let error = await #expect(throws: TaskError.self) {
      try await Endpoint<Void, [Int]>.get("numbers").on(server).download()
    }
    return try #require(error)
  }

  @Test(arguments: [nil, "application/json; charset=utf-16le"])
  func `redacts secrets in a UTF-16 body, with or without a declared charset`(type: String?) async throws {
    let body = try #require(#"{"name":"x","password":"hunter2"}"#.data(using: .utf16LittleEndian))
    let reason = try await decodingError(of: body, type).reason
    #expect(!reason.replacing(" ", with: "").contains("hunter"), "\(reason)")
  }

  private struct Secrets: Decodable {
    var access_token: String?
    var session_ids: [String]
  }

  @Test func `redacts secrets by name if the payload has no description`() async throws {
    let body = #"{"access_token":"hunter2","session_ids":["hunter3"],"hint":"later"}"#
    for error in [
      try await error(PlainTask().errorPayload(Secrets.self), body),
      try await error(PlainTask().errorPayload([String: SecretOrList].self), body),
    ] {
      #expect(!error.description.contains("hunter") && error.description.contains("later"))
    }
  }

  private enum SecretOrList: Decodable {
    case text(String)
    case list([String])

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let text = try? container.decode(String.self) {
        self = .text(text)
      } else {
        self = .list(try container.decode([String].self))
      }
    }
  }

  @Test func `an error code can be used as a catch pattern`() async throws {
    let failure: any Error = try await error(Order())
    do { throw failure } catch TaskError.Code.badStatus {} catch { Issue.record("the pattern did not match") }
    do { throw failure } catch TaskError.Code.timedOut { Issue.record("the pattern matched another code") } catch {}
    do { throw CancellationError() } catch TaskError.Code.badStatus {
      Issue.record("the pattern matched another error")
    } catch {}
  }
}
