import Errand
import ErrandInspection
import ErrandTesting
import Foundation
import Testing

/// Exports spans while new ones arrive.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct SpanQueueTests {
  @Test func `a flush waits only for spans that ended before it started`() async throws {
    let (shop, batches, flushed) = (try Shop(), Shared(0), Shared(false))
    // Each exported batch creates new spans until the flush ends, so spans are always waiting.
    let recorder = SpanRecorder(
      to: .spans { _ in
        let number = batches.withLock { batches in
          batches += 1
          return batches
        }
        guard number < 100, !flushed.withLock({ $0 }) else { return }
        _ = try await GetWidget().on(shop.server).download()
      }, limits: SpanLimits(delay: .zero))
    await shop.server.update { $0.observers = [recorder] }
    for _ in 0..<3 { _ = try await GetWidget().on(shop.server).download() }
    await recorder.flush()
    flushed.withLock { $0 = true }
    #expect(batches.withLock { $0 } < 10)
    await recorder.flush()
    #expect(recorder.dropped == 0)
  }

  @Test func `spans, log lines and events do not show the hidden parts of a call`() async throws {
    let (spans, lines, events) = (Shared<[RecordedSpan]>([]), Shared<[String]>([]), EventRecorder())
    let recorder = SpanRecorder(to: .spans { batch in spans.withLock { $0 += batch } })
    let shop = try Shop { settings in
      settings.observers = [recorder, events]
      settings.log = LogOutput { line in lines.withLock { $0.append(line) } }
      settings.logStyle = .steps
    }
    shop.mock.route("/planted1/*", answer: .status(302, headers: ["Location": "/planted2"]))
    shop.mock.route("/planted2", answer: .status(404))
    for path in ["planted1/planted3", "planted2"] {
      let task = Endpoint<Void, Void>.request(.get, path, query: ["q": "planted4"])
      _ = try? await task.on(shop.server).recording(.hidden).retry(upTo: 1, after: .milliseconds(1)).run()
    }
    shop.mock.route("/planted5", answer: .status(503))
    let failing = Endpoint<Void, Void>.request(.get, "planted5").on(shop.server).recording(.hidden)
    _ = try? await failing.retry(upTo: 1, after: .milliseconds(1)).run()
    await recorder.flush()
    let reported = spans.withLock { $0 }.map { "\($0)" } + lines.withLock { $0 } + events.moments().map { "\($0)" }
    #expect(reported.count > 30)
    for text in reported {
      #expect(!text.contains("planted") && !text.contains("127.0.0.1"), "\(text)")
    }
    let calls = spans.withLock { $0 }.filter { $0.kind == .internal }
    #expect(calls.count == 3 && calls.allSatisfy { $0["http.request.method"] == .text("GET") && $0.failure != nil })
    #expect(calls.allSatisfy { $0["error.type"] == .text("badStatus") }, "\(calls)")
  }

  @Test func `a batch contains at most the maximum number of spans and can split the spans of a call`() async throws {
    let batches = Shared<[[RecordedSpan]]>([])
    let recorder = SpanRecorder(
      to: .spans { batch in batches.withLock { $0.append(batch) } },
      limits: SpanLimits(batch: 3, delay: .seconds(1000)))
    let shop = try Shop { $0.observers = [recorder] }
    for _ in 0..<4 { _ = try await GetWidget().on(shop.server).download() }
    await recorder.flush()
    let taken = batches.withLock { $0 }
    #expect(taken.map(\.count) == [3, 3, 2])
    let spans = taken.flatMap { $0 }
    #expect(spans.map(\.kind) == (0..<4).flatMap { _ in [.client, .internal] } as [RecordedSpan.Kind])
    #expect(Set(spans.map(\.spanID)).count == 8 && Set(spans.map(\.traceID)).count == 4)
  }

  @Test func `a cancelled flush returns while the exporter hangs and drops no spans`() async throws {
    let (asked, taken) = (Shared(0), Shared(0))
    let (gate, opening) = AsyncStream.makeStream(of: Void.self)
    let recorder = SpanRecorder(
      to: .spans { _ in
        asked.withLock { $0 += 1 }
        for await _ in gate {}
        taken.withLock { $0 += 1 }
      }, limits: SpanLimits(delay: .zero))
    let shop = try Shop { $0.observers = [recorder] }
    _ = try await GetWidget().on(shop.server).download()
    #expect(await eventually { asked.withLock { $0 } == 1 })
    // The time limit that the guide recommends.
    let start = ContinuousClock.now
    await withTaskGroup { group in
      group.addTask { await recorder.flush() }
      group.addTask { try? await Task.sleep(for: .milliseconds(50)) }
      await group.next()
      group.cancelAll()
    }
    #expect(ContinuousClock.now - start < .seconds(10) && taken.withLock { $0 } == 0)
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await recorder.flush()
    }
    await cancelled.value
    let waiting = Task { await recorder.flush() }
    opening.finish()
    await waiting.value
    #expect(taken.withLock { $0 } == 1 && recorder.dropped == 0)
  }

  @Test func `stops reading a collector's endless response and treats the batch as accepted`() async throws {
    let shop = try Shop()
    shop.mock.route("/v1/traces", answer: .endless(chunk: Data(repeating: 0x20, count: 16 << 10)))
    let recorder = SpanRecorder(
      to: .collector(Remote(shop.mock.url)), limits: SpanLimits(delay: .zero), log: .discard)
    await shop.server.update { $0.observers = [recorder] }
    _ = try await GetWidget().on(shop.server).download()
    await recorder.flush()
    #expect(recorder.dropped == 0 && shop.mock.bytesSent < 32 << 20)
  }
}
