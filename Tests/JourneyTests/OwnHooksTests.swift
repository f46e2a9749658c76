#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// The Swift task that runs; nil outside of any.
  private func presentTask() -> Int? { withUnsafeCurrentTask { $0?.hashValue } }

  /// A hook of an app's: it counts, and from its third time on waits until it is cancelled.
  private struct Hook: Sendable {
    let calls = Shared(0)
    let begun = AsyncStream<Void>.makeStream()

    func run() async {
      let number = calls.withLock { calls in
        calls += 1
        return calls
      }
      guard number == 3 else { return }
      begun.continuation.yield()
      while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }  // ends at once, by being cancelled
    }
  }

  private protocol Hooked: ServerTask {
    init(_ hook: Hook)
  }

  /// A type for each hook that it has.
  private enum Types {
    struct WithURL: Hooked {
      let hook: Hook
      init(_ hook: Hook) { self.hook = hook }
      var url: URL {
        get async throws {
          await hook.run()
          return try await PlainTask().on(server).url
        }
      }
      @TaskLocal static var shop: Server?
      var server: Server { Self.shop ?? .default }
    }
    struct WithBody: Hooked {
      let hook: Hook
      init(_ hook: Hook) { self.hook = hook }
      func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
        await hook.run()
        return .empty
      }
    }
    struct WithPreflight: Hooked {
      let hook: Hook
      init(_ hook: Hook) { self.hook = hook }
      func preflight(_ request: inout HTTPRequest) async throws { await hook.run() }
    }
    struct WithStart: Hooked {
      let hook: Hook
      init(_ hook: Hook) { self.hook = hook }
      func didStart(_ request: HTTPRequest) async { await hook.run() }
    }
    struct WithProcessing: Hooked {
      let hook: Hook
      init(_ hook: Hook) { self.hook = hook }
      func postProcess(response: HTTPResponse) async throws { await hook.run() }
    }
    struct WithPostflight: Hooked {
      let hook: Hook
      init(_ hook: Hook) { self.hook = hook }
      func postflight(response: HTTPResponse) async throws { await hook.run() }
    }
  }

  /// Hooks that are the library's need no Swift task that a cancellation from outside could end; an app's do.
  @Suite(.balancedEvents, .timeLimit(.minutes(5))) struct OwnHooksTests {
    /// Notes the Swift tasks in which payloads are decoded.
    private struct NotingDecoder: PayloadDecoder {
      let tasks = Shared<[Int?]>([])

      func decode<Payload: Decodable>(_ type: Payload.Type, from data: Data) throws -> Payload {
        tasks.withLock { $0.append(presentTask()) }
        return try JSONDecoder().decode(type, from: data)
      }
    }

    @Test func `after its first call, a task without hooks runs in the Swift task of its caller`() async throws {
      struct Plain: ServerGETTask, PayloadDownloadingTask {
        typealias DownloadPayload = Widget
        var path: String { "widgets/7" }
      }
      let decoder = NotingDecoder()
      let shop = try Shop { $0.defaultDecoder = decoder }
      for _ in 0..<3 { _ = try await Plain().on(shop.server).timeout(.seconds(60)).download() }
      let here = presentTask()
      #expect(decoder.tasks.withLock { $0.map { $0 == here } } == [false, true, true])
      await shop.server.update { $0.postflight = { _, _ in } }
      _ = try await Plain().on(shop.server).download()
      #expect(decoder.tasks.withLock { $0.last } != .some(here), "a hook of the server may wait")
    }

    private static func run<Task: Hooked>(_ type: Task.Type) async throws {
      let shop = try Shop()
      shop.mock.route("/") { _ in .text("") }
      let hook = Hook()
      let call = { @Sendable in
        try await Types.WithURL.$shop.withValue(shop.server) {
          try await type.init(hook).on(shop.server).accepting(.all).run()
        }
      }
      for _ in 0..<2 { _ = try await call() }
      let third = _Concurrency.Task { try await call() }
      for await _ in hook.begun.stream { break }
      #expect(await shop.server.manager.cancelAll() == 1)
      await #expect(throws: CancellationError.self) { try await third.value }
      #expect(hook.calls.withLock { $0 } == 3 && shop.isQuiet)
    }

    @Test func `a hook of an app's is called each time, and ended by a cancellation from outside`() async throws {
      try await Self.run(Types.WithURL.self)
      try await Self.run(Types.WithBody.self)
      try await Self.run(Types.WithPreflight.self)
      try await Self.run(Types.WithStart.self)
      try await Self.run(Types.WithProcessing.self)
      try await Self.run(Types.WithPostflight.self)
    }

    @Test func `a check of heads and the last hook are called each time, and a check refuses each time`() async throws {
      struct Refused: Error {}
      struct Checked: ServerGETTask, PayloadDownloadingTask {
        typealias DownloadPayload = Widget
        var isRefused = false
        let seen: Shared<[String]>
        var path: String { "widgets/4" }
        func verify(_ response: HTTPResponse) throws {
          seen.withLock { $0.append("verify") }
          if isRefused { throw Refused() }
        }
        func didComplete(with response: HTTPResponse) async { seen.withLock { $0.append("didComplete") } }
      }
      let (shop, seen) = (try Shop(), Shared<[String]>([]))
      for _ in 0..<3 { _ = try await Checked(seen: seen).on(shop.server).download() }
      #expect(seen.withLock { $0 } == Array(repeating: ["verify", "didComplete"], count: 3).flatMap(\.self))
      await #expect(throws: Refused.self) { try await Checked(isRefused: true, seen: seen).on(shop.server).download() }
      #expect(seen.withLock { $0.count } == 7)
    }

    @Test func `a server's check sees the heads of tasks that have none of their own`() async throws {
      struct Unchecked: ServerGETTask { var path: String { "widgets/5" } }
      struct Refused: Error {}
      let shop = try Shop()
      for _ in 0..<2 { try await Unchecked().on(shop.server).run() }
      await shop.server.update { $0.verify = { _, _ in throw Refused() } }
      await #expect(throws: Refused.self) { try await Unchecked().on(shop.server).run() }
    }

    @Test func `calls that a hook makes say nothing of the hooks of its task`() async throws {
      struct Inner: ServerGETTask { var path: String { "widgets/1" } }
      struct Outer: ServerGETTask {
        let shop: Server
        let count: Shared<Int>
        var path: String { "widgets/2" }
        func preflight(_ request: inout HTTPRequest) async throws {
          count.withLock { $0 += 1 }
          for _ in 0..<2 { _ = try await Inner().on(shop).run() }
        }
      }
      let shop = try Shop()
      let count = Shared(0)
      for _ in 0..<4 { _ = try await Outer(shop: shop.server, count: count).on(shop.server).run() }
      #expect(count.withLock { $0 } == 4)
    }

    @Test func `a call that fails half way says nothing of the hooks behind it`() async throws {
      struct Refused: Error {}
      struct Late: ServerGETTask {
        let isRefused: Bool
        let started: Shared<Int>
        var path: String { "widgets/3" }
        func preflight(_ request: inout HTTPRequest) async throws { if isRefused { throw Refused() } }
        func didStart(_ request: HTTPRequest) async { started.withLock { $0 += 1 } }
      }
      let shop = try Shop()
      let started = Shared(0)
      for isRefused in [true, true, false, false, false] {
        _ = try? await Late(isRefused: isRefused, started: started).on(shop.server).run()
      }
      #expect(started.withLock { $0 } == 3)
    }
  }
#endif
