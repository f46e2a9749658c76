import Errand
import ErrandTesting
import Foundation
import Testing

/// Searches all output for cookie values.
@Suite(.timeLimit(.minutes(1))) struct PlantedCookiesTests {
  @Test func `echoes, recordings, logs, errors and events show cookies without values`() async throws {
    try await withFolder { folder in
      let output = Shared<[String]>([])
      let events = EventRecorder()
      let stub = StubServer(
        .status(302, [.location: "/b", .setCookie: "s=planted1; Path=/"]),
        .status(404, [.setCookie: "t=planted2; Path=/; Max-Age=60"]), .status(.ok)
      ) {
        $0.log = LogOutput { text in output.withLock { $0.append(text) } }
        $0.logStyle = .steps
        $0.echoesTasks = true
        $0.observers = [events]
      }
      let recordings = folder.appendingPathComponent("recordings")
      try await stub.server.recordTaskPath(to: recordings)
      let error = await taskError { try await PlainTask().on(stub.server).run() }
      _ = try await PlainTask().on(stub.server).run()
      _ = try await PlainTask().cookies(.sending(["u": "planted3"])).on(stub.server).run()
      await stub.server.endTaskPathRecording()
      #expect(stub.requests.map { $0.headers[.cookie] } == [nil, "s=planted1", "s=planted1; t=planted2", "u=planted3"])
      var all = output.withLock { $0 } + events.moments()
      all.append("\(String(describing: error)) \(error?.record.description ?? "") \(error?.headers.description ?? "")")
      all.append("\(stub.requests) \(String(reflecting: stub.requests)) \(String(describing: stub.server.cookieJar))")
      for name in try files(in: recordings) {
        all.append(try String(contentsOf: recordings.appendingPathComponent(name), encoding: .utf8))
      }
      let text = all.joined(separator: "\n")
      #expect(!text.contains("planted"))
      #expect(text.contains("Cookie: \(Redaction.mark)"), "the echo shows the Cookie header, with its value redacted")
      #expect(text.contains("Set-Cookie: \(Redaction.mark)"))
    }
  }
}
