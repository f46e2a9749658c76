import Errand
import ErrandInspection
import ErrandTesting
import Foundation
import Testing

/// Searches logs, recordings, pages, archives and commands for hidden values.
@Suite(.timeLimit(.minutes(1))) struct HiddenOutputTests {
  private struct Order: ServerPOSTTask, EchoingTask {
    func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
      .bytes(Data(#"{"customer":{"email":"s3cret1"}}"#.utf8), type: .json)
    }
  }

  @Test func `no output shows hidden values`() async throws {
    try await withFolder { folder in
      let output = Shared<[String]>([])
      var redaction = Redaction.standard
      redaction.paths = ["customer.email"]
      redaction.bodies = ["application/vnd.bank+json"]
      let (calls, log) = (RecordedCalls(), try HTTPLog(in: folder.appendingPathComponent("log")))
      let stub = StubServer(
        .data(Data(#"{"iban":"s3cret2"}"#.utf8), "application/vnd.bank+json")
      ) {
        $0.redaction = redaction
        $0.log = LogOutput { text in output.withLock { $0.append(text) } }
        $0.logStyle = .steps
        $0.logOptions = .full
        $0.recorders = [calls, log]
      }
      let tape = folder.appendingPathComponent("tape.har")
      try await stub.server.recordTaskPath(to: folder.appendingPathComponent("recordings"))
      for _ in 0..<2 { try await Order().on(stub.server).run() }
      await stub.server.endTaskPathRecording()
      await log.finish()
      try HTTPArchive(calls.calls).data().write(to: tape)
      for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
        let file = folder.appendingPathComponent(path)
        guard !file.hasDirectoryPath, let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
        output.withLock { $0.append(text) }
      }
      output.withLock { $0 += calls.calls.flatMap { ["\($0)"] + $0.exchanges.compactMap { $0.curlCommand() } } }
      let all = output.withLock { $0 }
      #expect(all.count > 8)
      for text in all { #expect(text.firstMatch(of: /s3cret\d/) == nil, "\(text.prefix(2000))") }
      #expect(all.joined().contains("<18 bytes of application/vnd.bank+json, hidden by the redaction>"))
    }
  }

  private struct Login: TaskPayload {
    var user = "u"
    @Redacted var petsMaiden = "planted-redacted"
  }

  private struct SignIn: ServerPOSTTask, PayloadUploadingTask, PayloadDownloadingTask {
    typealias DownloadPayload = Login
    var uploadPayload = Login()
    var path: String { "login" }
  }

  @Test func `hides the value from logs, records, pages and commands, but sends it`() async throws {
    try await withFolder { folder in
      let output = Shared<[String]>([])
      let sent = Shared<[String]>([])
      let (calls, events) = (RecordedCalls(), EventRecorder())
      let log = try HTTPLog(in: folder.appendingPathComponent("log"))
      var configuration = ServerConfiguration()
      configuration.log = LogOutput { text in output.withLock { $0.append(text) } }
      configuration.logStyle = .steps
      configuration.logOptions = .full
      configuration.observers = [events]
      configuration.echoesTasks = true
      configuration.recorders = [calls, log]
      let transport = StubTransport { request in
        sent.withLock { $0.append(String(decoding: request.body.data ?? Data(), as: UTF8.self)) }
        output.withLock { $0.append(request.curlCommand()) }
        return .json(#"{"user":"u","petsMaiden":"planted-redacted"}"#, for: request)
      }
      let server = Server(
        "https://shop.test", configuration: configuration, transport: transport, environment: [:])
      let payload = try await SignIn().on(server).download()
      #expect(payload.petsMaiden == "planted-redacted" && sent.withLock { $0[0] }.contains("planted-redacted"))
      await log.finish()
      output.withLock { $0 += calls.calls.map { "\($0)" } + events.moments() }
      for name in try files(in: log.folder) {
        let text = try String(contentsOf: log.folder.appendingPathComponent(name), encoding: .utf8)
        output.withLock { $0.append(text) }
      }
      let all = output.withLock { $0 }
      #expect(all.count > 8 && all.joined().contains(Redaction.mark))
      for text in all { #expect(!text.contains("planted-redacted"), "\(text.prefix(2000))") }
    }
  }
}
