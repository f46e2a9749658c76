import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct EventsTests {
  private let recorder = EventRecorder()

  @Test func `a successful call reports its events in order`() async throws {
    let stub = StubServer(.status(503), .widget) { $0.observers = [recorder] }
    _ = try await GetWidget().on(stub.server).retry(upTo: 1, after: .seconds(2)).download()
    #expect(
      recorder.moments() == [
        "call started", "attempt 1 started", "GET https://shop.test/widgets/7", "503 Service Unavailable",
        "body of 0 bytes",
        "attempt 1 ended: 503 Service Unavailable", "waiting 2.000 s to retry: 503 Service Unavailable",
        "finished waiting",
        "attempt 2 started", "GET https://shop.test/widgets/7", "200 OK", "body of 26 bytes", "attempt 2 ended: 200 OK",
        "decoded", "call succeeded with 200 OK",
      ])
    #expect(recorder.problems == [])
    #expect(recorder.events.allSatisfy { $0.task == "GetWidget" })
  }

  @Test func `every start event has one end event, regardless of how the call ends`() async throws {
    struct Refused: Error {}
    let stub = StubServer(.data(Data("no JSON".utf8), .json)) { $0.observers = [recorder] }
    let server = stub.server
    let base = GetWidget().on(server)
    _ = try? await base.download()
    _ = try? await base.header("X", "a\nb").download()
    _ = try? await base.accepting(.only(201)).download()
    _ = try? await base.download(to: .known("file:///dev/null/below-a-file"))
    _ = try? await URLTask(.known("http://plain.test")).on(server).run()
    await server.update { $0.preflight = { _, _ in throw Refused() } }
    _ = try? await base.run()
    await server.update { $0.disabled = true }
    _ = try? await base.run()
    #expect(Set(recorder.events.map(\.call)).count == 7)
    #expect(recorder.problems == [])
  }

  @Test func `a stream ends when its body is read or released`() async throws {
    let stub = StubServer(.data(Data("abc".utf8), .plainText)) { $0.observers = [recorder] }
    do {
      let response = try await PlainTask().on(stub.server).stream()
      #expect(!recorder.isBalanced, "the body has not been read yet")
      #expect(try await response.body.collect() == Data("abc".utf8))
    }
    do { _ = try await PlainTask().on(stub.server).stream() }
    await recorder.balanced()
    #expect(recorder.moments().count { $0 == "call succeeded with 200 OK" } == 2)
  }

  @Test func `responses and errors contain the record`() async throws {
    let stub = StubServer(.status(503), .widget, .status(404))
    let response = try await GetWidget().on(stub.server).response()
    #expect(response.record.title == "GET https://shop.test/widgets/7")
    #expect(response.record.description.contains("attempt 2 ended: 200 OK"))
    let error = await #expect(throws: TaskError.self) { try await GetWidget().on(stub.server).run() }
    #expect(error?.record.attempts.map(\.status) == [404])
  }

  @Test func `the log style determines the number of log lines`() async throws {
    let lines = Shared<[String]>([])
    let sink = LogOutput { line in lines.withLock { $0.append(line) } }
    for (style, count) in [(LogStyle.none, 0), (.short, 2), (.steps, 8)] {
      let stub = StubServer(.widget) {
        $0.logStyle = style
        $0.log = sink
      }
      lines.withLock { $0 = [] }
      _ = try await GetWidget().on(stub.server).download()
      #expect(lines.withLock { $0.count } == count, "\(style)")
    }
  }

  @Test func `reports failed waits for a slot or a queue`() async throws {
    let gate = Gate()
    let shop = VirtualShop(limits: ThrottleLimits(perHost: 1)) { _, request, _ in
      await gate.wait()
      return .ok(request)
    }
    let first = Task { try await shop.task().serialQueue(.named("till")).run() }
    #expect(await eventually { shop.sentCount == 1 })
    let second = Task { try await shop.task().run() }
    let third = Task { try await shop.task().serialQueue(.named("till")).run() }
    #expect(await eventually { shop.events.moments().count { $0.hasPrefix("waiting for") } == 2 })
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    third.cancel()
    await #expect(throws: CancellationError.self) { try await third.value }
    gate.open()
    _ = try await first.value
    let moments = shop.events.moments()
    #expect(moments.contains("no slot after 0.000 s"))
    #expect(
      moments.contains("waiting for the serial queue 'till'")
        && moments.contains("finished waiting for the serial queue"))
    #expect(shop.events.problems == [])
  }

  @Test func `reports the phases that an exchange has reached`() {
    func phases(_ change: (inout TransferTimings) -> Void) -> [String] {
      var timings = TransferTimings()
      change(&timings)
      return CallMoment.phases(timings).map { "\($0.moment) \($0.time.formattedSeconds)" }
    }
    #expect(phases { _ in } == [])
    #expect(phases { $0.nameLookup = .milliseconds(2) } == ["host name resolved 0.002 s"])
    let whole = phases { timings in
      timings.nameLookup = .milliseconds(2)
      timings.connect = .milliseconds(3)
      timings.secureConnect = .milliseconds(5)
      timings.requestStart = .milliseconds(6)
      timings.remoteAddress = "::1"
      timings.remotePort = 443
    }
    #expect(
      whole == [
        "host name resolved 0.002 s", "connected to [::1]:443 0.003 s", "TLS handshake completed 0.005 s",
        "request sent 0.006 s",
      ])
    for connect in [Duration.zero, .microseconds(20)] {
      let reused = phases { timings in
        (timings.nameLookup, timings.connect, timings.requestStart) = (.microseconds(20), connect, .microseconds(30))
      }
      #expect(reused == ["request sent 0.000 s"])
    }
  }
}
