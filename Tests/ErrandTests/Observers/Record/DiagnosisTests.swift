import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct DiagnosisTests {
  private static func error(_ code: TaskError.Code, _ reason: String = "", _ phase: TaskError.Phase = .awaitingResponse)
    -> TaskError
  { TaskError(code, reason, phase: phase) }

  private static func timeout(_ timer: Timeouts.Timer, _ phase: TaskError.Phase) -> TaskError {
    .timeout(timer, after: .seconds(1), phase: phase)
  }

  private static func status(_ status: Int) -> TaskError {
    .badStatus(HTTPResponse(HTTPStatus(status), url: .known("https://shop.test/")), redaction: .standard)
  }

  private static func shape(_ type: MediaType, _ body: String) -> TaskError {
    let response = HTTPResponse(.ok, url: .known("https://shop.test/"), headers: [.contentType: type.rawValue])
    return error(.decodingFailed).with(response, Data(body.utf8), ServerConfiguration())
  }

  private static let unread = TaskError(
    .decodingFailed, "", phase: .finishing,
    underlying: DecodingError.dataCorrupted(
      .init(codingPath: [], debugDescription: "The given data was not valid JSON.")))

  /// Sample errors and the cause expected for each.
  static let cases: [(TaskError, Diagnosis.Cause)] = [
    (error(.disabled), .disabled), (error(.noRemote), .noRemote), (error(.unknownRemote), .unknownRemote),
    (error(.badURL), .badURL), (error(.insecureScheme), .insecureScheme), (error(.badLimit), .badLimit),
    (error(.badRequest), .badRequest), (error(.encodingFailed), .encodingFailed),
    (error(.unreadableBody), .unreadableBody),
    (error(.bodyNotReplayable), .bodyNotReplayable), (error(.bodyLengthMismatch), .bodyLengthMismatch),
    (error(.reentrantQueue), .reentrantQueue),
    (error(.queueFull), .queueFull), (error(.circuitOpen), .circuitOpen), (error(.notCached), .notCached),
    (error(.notRecorded), .notRecorded),
    (error(.transportUnavailable), .transportUnavailable), (error(.cannotResolveHost), .cannotResolveHost),
    (error(.forbiddenAddress), .forbiddenAddress),
    (error(.cannotConnect, "Failed to connect to 127.0.0.1 port 9: Connection refused"), .connectionRefused),
    (error(.cannotConnect, "Failed to connect: No route to host"), .unreachable), (error(.offline), .offline),
    (error(.cannotConnect, "Failed to connect to route.test: Connection refused"), .connectionRefused),
    (error(.cannotConnect, "the proxy returned 503 Service Unavailable for CONNECT"), .badGateway),
    (error(.secureConnectionFailed, "this libcurl has no TLS", .preparing), .transportUnavailable),
    (error(.untrustedServer, "no alternative certificate subject name matches 'expired.test'"), .certificateName),
    (error(.untrustedServer, "the server's certificate is not valid yet"), .certificateExpired),
    (status(200), .unacceptedStatus), (status(428), .preconditionRequired), (status(414), .urlTooLong),
    (error(.secureConnectionFailed, "error:0A00010B:SSL routines::wrong version number"), .plainServer),
    (error(.secureConnectionFailed, "alert handshake failure"), .tlsRefused),
    (
      error(.secureConnectionFailed, "\(TaskError.certificatesReason): no such file", .preparing), .unusableCertificates
    ),
    (
      error(.badStatus, "200 OK: the server sent the entire content because it does not support Range").ofStatus(200),
      .rangeIgnored
    ),
    (status(416), .unsatisfiableRange), (error(.bodyConsumed), .bodyConsumed), (unread, .wrongFormat),
    (error(.untrustedServer, "certificate has expired"), .certificateExpired),
    (error(.untrustedServer, "no alternative certificate subject name matches target host name"), .certificateName),
    (error(.untrustedServer, "self-signed certificate"), .certificateUnknown), (error(.pinMismatch), .pinMismatch),
    (error(.proxyAuthenticationRequired), .proxyAuthenticationRequired), (error(.proxyRefused), .proxyRefused),
    (error(.authenticationFailed), .authenticationFailed), (error(.signInRequired), .signInRequired),
    (error(.connectionLost, "the pooled connection was closed before the response arrived"), .idleConnectionLost),
    (error(.connectionLost, "reset", .sending), .lostWhileSending),
    (error(.connectionLost, "reset"), .lostBeforeResponse),
    (error(.truncatedBody), .truncatedBody), (timeout(.queue, .waiting), .slowQueue),
    (timeout(.connect, .connecting), .slowConnect),
    (timeout(.attempt, .connecting), .slowConnect), (timeout(.attempt, .sending), .slowUpload),
    (timeout(.firstByte, .awaitingResponse), .slowServer), (timeout(.idle, .receiving), .slowBody),
    (timeout(.attempt, .receiving), .slowBody), (timeout(.call, .awaitingResponse), .deadline),
    (timeout(.call, .delaying), .deadlineInRetries),
    (error(.badResponse, "Received HTTP/0.9 when not allowed"), .notHTTP),
    (error(.badResponse), .badResponse), (status(302), .notFollowed), (status(400), .malformedRequest),
    (status(401), .unauthorized),
    (status(403), .forbidden), (status(404), .notFound), (status(405), .methodNotAllowed),
    (status(406), .notAcceptable),
    (status(409), .conflict), (status(410), .gone), (status(412), .preconditionFailed), (status(413), .contentTooLarge),
    (status(431), .headersTooLarge), (status(415), .unsupportedMediaType), (status(422), .unprocessableContent),
    (status(429), .rateLimited),
    (status(451), .unavailableForLegalReasons), (status(418), .clientError), (status(500), .serverError),
    (status(599), .serverError),
    (status(502), .badGateway), (status(503), .overloaded), (status(504), .gatewayTimeout),
    (error(.notModified), .notModified),
    (status(206), .partialBody), (error(.tooManyRedirects), .tooManyRedirects), (error(.badRedirect), .badRedirect),
    (shape("text/html", "<html>"), .htmlInsteadOfData), (error(.decodingFailed, TaskError.emptyBodyReason), .emptyBody),
    (shape("application/json", "{}"), .wrongShape), (error(.bodyTooLarge), .bodyTooLarge),
    (error(.digestMismatch), .digestMismatch), (error(.transferInUse), .transferInUse),
    (error(.fileNotWritable), .fileNotWritable), (error(.internal), .internal),
  ]

  @Test(arguments: cases) func `an error reports its most likely cause`(error: TaskError, cause: Diagnosis.Cause) {
    #expect(error.cause == cause && error.diagnosis?.name == cause.rawValue, "\(error)")
  }

  @Test func `every error code has a cause, and the tests cover every cause`() throws {
    let file = DocumentedCode.package.appendingPathComponent("Sources/Errand/Errors/TaskError+Code.swift")
    let names = try DocumentedCode.lines(of: file).compactMap {
      $0.firstMatch(of: /= Code\(own: "(\w+)"\)/).map { String($0.1) }
    }
    #expect(names.count > 30)
    for name in names {
      var error = TaskError(.init(name), "", phase: .preparing)
      error.status = 500
      let cause = name == "timedOut" ? Self.timeout(.call, .preparing).cause : error.cause
      #expect(cause != nil, "\(name)")
    }
    let unnamed = Set(Diagnosis.Cause.allCases).subtracting(Self.cases.map(\.1))
    #expect(unnamed == [.staleConnection, .waitedForSlot, .retried])
    #expect(TaskError(.init("soldOut"), "", phase: .finishing).diagnosis == nil)
  }

  @Test func `the guide lists every cause`() throws {
    let guide = DocumentedCode.package.appendingPathComponent("Sources/Errand/Errand.docc/Errors.md")
    let text = try String(contentsOf: guide, encoding: .utf8)
    for cause in Diagnosis.Cause.allCases { #expect(text.contains("`\(Diagnosis(cause).name)`"), "\(cause)") }
  }

  // MARK: The record

  private func attempt(_ number: Int, queued: Duration = .zero, wasResent: Bool = false) -> CallMoment {
    var record = AttemptRecord(number: number)
    record.queued = queued
    record.status = number == 1 ? 503 : .ok
    record.duration = .milliseconds(200)
    var timings = TransferTimings()
    (timings.nameLookup, timings.connect, timings.firstByte) = (.milliseconds(5), .milliseconds(20), .milliseconds(150))
    (timings.secureConnect, timings.requestStart) = (.milliseconds(60), .milliseconds(60))
    (timings.lastByte, timings.wasResent) = (.milliseconds(190), wasResent)
    record.timings = timings
    return .attemptEnded(number, record)
  }

  @Test func `the diagnosis of a slow successful call names the reason`() {
    func diagnosis(_ moments: CallMoment...) -> String? {
      var record = FlightRecord(title: "GET https://shop.test/")
      for moment in moments { record.note(moment, at: .seconds(1)) }
      record.note(.callEnded(.succeeded(.ok)), at: .seconds(1))
      return record.diagnosis?.name
    }
    #expect(diagnosis(attempt(2)) == nil)
    #expect(diagnosis(attempt(1), attempt(2)) == "retried")
    #expect(diagnosis(attempt(2, wasResent: true)) == "staleConnection")
    #expect(diagnosis(attempt(2, queued: .milliseconds(600))) == "waitedForSlot")
  }

  @Test func `the summary lists the attempts, the events between them, and the diagnosis`() {
    var record = FlightRecord(title: "GET https://shop.test/")
    record.note(.callStarted, at: .zero)
    record.note(.cacheMissed(.uriMiss), at: .zero)
    record.note(.attemptStarted(1), at: .zero)
    record.note(attempt(1, queued: .milliseconds(30)), at: .milliseconds(230))
    record.note(.delayStarted(.seconds(1), reason: "503 Service Unavailable"), at: .milliseconds(230))
    record.note(.redirected(to: "https://shop.test/b"), at: .milliseconds(1300))
    record.note(attempt(2), at: .milliseconds(1430))
    record.note(.callEnded(.succeeded(nil)), at: .milliseconds(1430))
    #expect(
      record.summary == """
        GET https://shop.test/: call succeeded, after 1.430 s
          not served from the cache: uri-miss
          attempt 1: 503 Service Unavailable after 0.200 s (slot 0.030 s, name 0.005 s, connection 0.015 s, TLS 0.040 s, response 0.090 s, body 0.040 s)
          waiting 1.000 s to retry: 503 Service Unavailable
          redirected to https://shop.test/b
          attempt 2: 200 OK after 0.200 s (name 0.005 s, connection 0.015 s, TLS 0.040 s, response 0.090 s, body 0.040 s)
          diagnosis: the call needed more than one attempt: find out why the first attempt failed
        """)
  }

  @Test func `the summary shortens a long list of attempts`() {
    var record = FlightRecord(title: "GET https://shop.test/")
    for number in 1...200 { record.note(attempt(number), at: .seconds(number)) }
    let lines = record.summary.split(separator: "\n")
    #expect(lines.count == 14 && lines[7] == "  … 188 more lines" && lines[13].hasPrefix("  attempt 200"))
  }

  @Test func `an error and its record share a diagnosis, and the record encodes as JSON`() async throws {
    let stub = StubServer(.status(503))
    let error = try #require(
      await taskError { try await GetWidget().on(stub.server).retry(upTo: 1, after: .seconds(1)).run() })
    #expect(error.diagnosis?.name == "overloaded" && error.record.diagnosis == error.diagnosis)
    #expect(error.record.summary.hasSuffix("\n  diagnosis: \(Diagnosis(.overloaded))"), "\(error.record.summary)")
    let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(error.record)) as? [String: Any]
    #expect(json?["title"] as? String == "GET https://shop.test/widgets/7")
    #expect((json?["attempts"] as? [[String: Any]])?.first?["delay"] as? Double == 1)
    #expect((json?["diagnosis"] as? [String: Any])?["name"] as? String == "overloaded")
    #expect(((json?["moments"] as? [[String: Any]])?.last?["text"] as? String)?.hasPrefix("call failed") == true)
  }
}

extension TaskError {
  fileprivate func ofStatus(_ status: HTTPStatus) -> TaskError {
    var error = self
    error.status = status
    return error
  }
}

extension FlightRecord {
  fileprivate mutating func note(_ moment: CallMoment, at time: Duration) {
    entries.append(Entry(time: time, moment: moment))
  }
}
