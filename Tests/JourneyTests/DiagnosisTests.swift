import Errand
import ErrandInspection
import ErrandTesting
import Foundation
import Testing

/// Faults on real sockets, and the diagnoses in their errors.
@Suite(.balancedEvents, .timeLimit(.minutes(1)))
struct DiagnosisTests {
  /// A fault caused by an answer, or by settings of the server or the task.
  struct Fault: Sendable, CustomStringConvertible {
    let description: String
    var answer: MockAnswer?
    var limits = ThrottleLimits()
    var configure: @Sendable (inout ServerConfiguration) -> Void = { _ in }
    var run: @Sendable (Server, URL) async throws -> Void = { server, _ in
      _ = try await GetWidget().on(server).retry(.never).download()
    }

    static func status(_ status: HTTPStatus, _ cause: String, headers: HTTPHeaders = [:]) -> Fault {
      Fault(description: cause, answer: .status(status, headers: headers))
    }
  }

  private static let brief = Duration.milliseconds(300)

  static let statuses: [Fault] = [
    .status(302, "notFollowed"), .status(400, "malformedRequest"), .status(401, "unauthorized"),
    .status(403, "forbidden"),
    .status(404, "notFound"), .status(405, "methodNotAllowed"), .status(406, "notAcceptable"),
    .status(408, "slowUpload"),
    .status(409, "conflict"), .status(410, "gone"), .status(412, "preconditionFailed"), .status(413, "contentTooLarge"),
    .status(414, "urlTooLong"), .status(428, "preconditionRequired"), .status(431, "headersTooLarge"),
    .status(415, "unsupportedMediaType"), .status(422, "unprocessableContent"),
    .status(429, "rateLimited"),
    .status(451, "unavailableForLegalReasons"), .status(418, "clientError"), .status(500, "serverError"),
    .status(502, "badGateway"),
    .status(503, "overloaded"), .status(504, "gatewayTimeout"), .status(304, "notModified"),
    Fault(
      description: "partialBody",
      answer: .text("ab", status: .partialContent).header("Content-Range", "bytes 0-1/4")),
    .status(302, "tooManyRedirects", headers: ["Location": "/widgets/7"]),
    .status(302, "badRedirect", headers: ["Location": "ftp://a.test/"]),
  ]

  static let bodies: [Fault] = [
    Fault(description: "htmlInsteadOfData", answer: .data(Data("<html></html>".utf8), type: "text/html")),
    Fault(description: "emptyBody", answer: .data(Data(), type: .json)),
    Fault(description: "wrongShape", answer: .json(#"{"id":"seven"}"#)),
    Fault(
      description: "bodyTooLarge", answer: .json(String(repeating: " ", count: 1000)),
      configure: { $0.maximumBodySize = 100 }),
    Fault(description: "truncatedBody", answer: .truncated(body: Data(repeating: 0x61, count: 100), after: 50)),
    Fault(description: "notHTTP", answer: .raw(Data("220 mail.test ESMTP\r\n".utf8))),
    Fault(
      description: "badResponse",
      answer: .raw(Data("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab".utf8))),
    Fault(description: "lostBeforeResponse", answer: .raw(Data())),
    Fault(
      description: "fileNotWritable", answer: .text("a"),
      run: { server, _ in
        let place = URL(fileURLWithPath: "/dev/null/file")  // not writable even for root
        _ = try await GetWidget().on(server).retry(.never).download(to: place)
      }),
  ]

  static let limits: [Fault] = [
    Fault(
      description: "slowServer", answer: .text("a").after(.seconds(600)),
      run: { server, _ in
        _ = try await GetWidget().on(server).retry(.never).timeouts(Timeouts(firstByte: brief)).download()
      }),
    Fault(
      description: "slowBody", answer: .text("a").bodyAfter(.seconds(600)),
      run: { server, _ in _ = try await GetWidget().on(server).retry(.never).timeouts(Timeouts(idle: brief)).download()
      }),
    Fault(
      description: "deadline", answer: .text("a").after(.seconds(600)),
      run: { server, _ in _ = try await GetWidget().on(server).retry(.never).timeouts(Timeouts(call: brief)).download()
      }),
  ]

  static let settings: [Fault] = [
    Fault(description: "disabled", configure: { $0.disabled = true }),
    Fault(
      description: "badLimit", run: { server, _ in _ = try await GetWidget().on(server).timeout(.zero).download() }),
    Fault(
      description: "badRequest",
      run: { server, _ in _ = try await GetWidget().on(server).header("X", "a\nb").download() }),
    Fault(
      description: "insecureScheme",
      run: { server, _ in _ = try await URLTask(known("http://shop.test/")).on(server).download() }),
    Fault(
      description: "badURL",
      run: { server, _ in _ = try await URLTask(known("ftp://shop.test/")).on(server).download() }),
    Fault(
      description: "notCached", configure: { $0.cache = MemoryCache() },
      run: { server, _ in _ = try await GetWidget().on(server).caching(.cacheOnly).download() }),
    Fault(
      description: "notRecorded",
      run: { server, _ in
        _ = try await GetWidget().on(server).replay(from: URL(fileURLWithPath: "/nonexistent/a.har")).download()
      }),
    Fault(
      description: "unreadableBody",
      run: { server, url in
        let body = HTTPBody.file(URL(fileURLWithPath: "/nonexistent/file"))
        _ = try await URLTask(url, method: .post, body: body).on(server).run()
      }),
    Fault(
      description: "bodyLengthMismatch",
      run: { server, url in
        let body = HTTPBody.stream(length: 9) { AsyncStream<Data> { $0.finish() } }
        _ = try await URLTask(url, method: .post, body: body).on(server).retry(.never).run()
      }),
    Fault(
      description: "forbiddenAddress", configure: { $0.addressPolicy = .publicOnly }),
    Fault(
      description: "connectionRefused",
      run: { server, url in
        let other = try MockServer()
        let closed = other.url
        other.stop()
        _ = try await URLTask(closed).on(server).retry(.never).run()
      }),
    Fault(
      description: "cannotResolveHost",
      run: { server, _ in
        _ = try await URLTask(known("https://shop.invalid/widgets/7")).on(server).retry(.never).run()
      }),
  ]

  static let faults = statuses + bodies + limits + settings

  /// The causes that a single call to a `MockServer` can't have. `ErrandTests` has an error for each.
  private static let others: Set<Diagnosis.Cause> = [
    .noRemote, .unknownRemote, .encodingFailed, .bodyNotReplayable, .reentrantQueue, .queueFull, .circuitOpen,
    .transportUnavailable, .unreachable, .offline, .plainServer, .tlsRefused, .unusableCertificates,
    .certificateExpired, .certificateName, .certificateUnknown, .pinMismatch, .proxyAuthenticationRequired,
    .proxyRefused, .authenticationFailed, .signInRequired, .idleConnectionLost, .lostWhileSending, .slowQueue,
    .slowConnect, .deadlineInRetries, .rangeIgnored, .unsatisfiableRange, .unacceptedStatus, .wrongFormat,
    .bodyConsumed, .digestMismatch, .transferInUse, .internal, .staleConnection, .waitedForSlot, .retried,
  ]

  private static func known(_ text: String) -> URL { URL(string: text) ?? URL(fileURLWithPath: "/not-a-url") }

  @Test(arguments: faults)
  func `an error has the fault's diagnosis, which is the last line of its summary`(_ fault: Fault) async throws {
    let shop = try Shop(limits: fault.limits) { configuration in
      fault.configure(&configuration)
    }
    if let answer = fault.answer { shop.mock.route("/*", answer: answer) }
    do {
      try await fault.run(shop.server, shop.url("x"))
      Issue.record("nothing failed")
    } catch let error as TaskError {
      #expect(error.diagnosis?.name == fault.description, "\(error)")
      let last = error.record.summary.split(separator: "\n").last ?? ""
      #expect(last == "  diagnosis: \(error.diagnosis?.description ?? "")")
      #expect(error.record.summary.split(separator: "\n").count <= 15)
    }
  }

  @Test func `every cause has a fault, unless one call can't have it`() {
    let causes = Set(Self.faults.map(\.description))
    #expect(causes == Set(Diagnosis.Cause.allCases.filter { !Self.others.contains($0) }.map(\.rawValue)))
  }
}
