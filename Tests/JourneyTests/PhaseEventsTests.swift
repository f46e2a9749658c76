import Errand
import ErrandTesting
import Foundation
import Testing

#if os(Linux)
  /// The connection and body events that observers receive, on real sockets.
  @Suite(.balancedEvents, .timeLimit(.minutes(1))) struct PhaseEventsTests {
    private let recorder = EventRecorder()

    private func phases(of call: Int) -> [TaskEvent] {
      recorder.events.filter { event in
        guard event.call == call else { return false }
        return switch event.moment {
        case .nameResolved, .connected, .secured, .requestSent, .responded: true
        default: false
        }
      }
    }

    @Test(.keepsConnections)
    func `reports each phase of a new connection, but only the request on a reused connection`()
      async throws
    {
      let shop = try Shop { $0.observers = [recorder] }
      _ = try await GetWidget().on(shop.server).download()
      let response = try await GetWidget().on(shop.server).response()
      let calls = Set(recorder.events.map(\.call)).sorted()
      let first = phases(of: calls[0])
      let port = try #require(shop.mock.url.port)
      #expect(
        first.map { "\($0.moment)" } == [
          "connected to 127.0.0.1:\(port)", "request sent", "200 OK",
        ], "an address is not looked up")
      let all = recorder.events.filter { $0.call == calls[0] }
      #expect(zip(all, all.dropFirst()).allSatisfy { $0.time <= $1.time }, "\(all.map { "\($0.time) \($0.moment)" })")
      #expect(phases(of: calls[1]).map { "\($0.moment)" } == ["request sent", "200 OK, reused connection"])
      #expect(!response.record.description.contains("request sent"), "the record shows phases only as timings")
      #expect(response.metrics.timings?.requestStart ?? .zero > .zero)
    }

    @Test func `reports the name lookup between the request and the connection`() async throws {
      let shop = try Shop { $0.observers = [recorder] }
      let port = try #require(shop.mock.url.port)
      try await URLTask(try #require(URL(string: "http://localhost:\(port)/widgets/7"))).on(shop.server).run()
      let reported = recorder.events.map { "\($0.moment)" }
      let requested = try #require(reported.firstIndex { $0.hasPrefix("GET ") })
      #expect(
        Array(reported[(requested + 1)...].prefix(2)) == ["host name resolved", "connected to 127.0.0.1:\(port)"])
      #expect(zip(recorder.events, recorder.events.dropFirst()).allSatisfy { $0.time <= $1.time })
    }

    @Test func `reports the phases of each redirect and of a failed exchange`() async throws {
      let shop = try Shop { $0.observers = [recorder] }
      shop.mock.route("/plain", answer: .status(302, headers: ["Location": "/widgets/7"]))
      try await PlainTask().on(shop.server).run()
      #expect(recorder.moments().count { $0 == "request sent" } == 2)
      shop.mock.route("/plain", answer: .reset)
      let error = await #expect(throws: TaskError.self) {
        try await PlainTask().on(shop.server).retry(.never).run()
      }
      #expect(recorder.moments().count { $0 == "request sent" } >= 3)
      #expect(error?.metrics.attemptCount == 1 && error?.metrics.timings != nil, "a failed attempt has timings")
    }

    @Test func `a stream released early reports the timings of its head`() async throws {
      let shop = try Shop()
      shop.mock.route("/plain", answer: .endless(chunk: Data(count: 1000)))
      let response = try await PlainTask().on(shop.server).stream()
      response.body.cancel()
      #expect(await eventually { response.metrics.attemptCount == 1 })
      #expect(response.metrics.timings?.firstByte ?? .zero > .zero)
    }

    /// An observer that receives progress.
    private final class Bytes: TaskObserver {
      let seen = Shared<[TransferProgress]>([])
      var delivery: ObserverDelivery { .inline }
      var wantsProgress: Bool { true }

      func observe(_ event: TaskEvent) {
        if case .progressed(let progress) = event.moment { seen.withLock { $0.append(progress) } }
      }
    }

    @Test func `reports throttled progress and the final progress only to interested observers`() async throws {
      let bytes = Bytes()
      let shop = try Shop { $0.observers = [recorder, bytes] }
      let body = Data(count: 3 << 20)
      let echo = URLTask(shop.url("echo/x"), method: .put, body: .bytes(body)).on(shop.server)
      #expect(try await echo.downloadData() == body)
      for direction in [TransferProgress.Direction.up, .down] {
        let seen = bytes.seen.withLock { $0 }.filter { $0.direction == direction }
        #expect(seen.last?.completed == Int64(body.count) && seen.last?.isFinished == true)
        #expect(seen.count < 1000, "progress is throttled, not reported for each chunk")
      }
      #expect(!recorder.events.contains { $0.moment.description.contains("bytes sent") })
    }
  }
#endif
