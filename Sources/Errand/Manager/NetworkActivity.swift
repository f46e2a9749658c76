/// The number of requests in progress as an async sequence. Use it to show network activity.
///
///     for await count in shop.manager.activity { indicator.isHidden = count == 0 }
///
/// The sequence starts with the current number and never ends. A slow reader skips intermediate numbers but always
/// receives the latest. A request counts from when it gets its slot until its response has been read or released. A call
/// that is waiting, for example for a slot or a retry, doesn't count.
public struct NetworkActivity: AsyncSequence, Sendable {
  /// The number of requests.
  public typealias Element = Int

  private let source: any ActivitySource

  init(_ source: any ActivitySource) { self.source = source }

  /// The activity of all managers in the process.
  public static let all = NetworkActivity(ActivityRegistry.all)

  /// The current number of requests in progress.
  public var count: Int { source.activity }

  /// Creates an iterator.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source) }

  /// Iterates over the numbers.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let source: any ActivitySource
    private let watch = ActivityWatch()
    private var last: Int?

    init(_ source: any ActivitySource) {
      self.source = source
      source.add(watch)
    }

    /// Returns the next number that differs from the previous one, or `nil` if the surrounding task is cancelled.
    public mutating func next() async -> Int? {
      while await watch.change() {
        // Read the number here rather than when it changes, to get the latest value.
        let count = source.activity
        guard count != last else { continue }
        last = count
        return count
      }
      return nil
    }
  }
}

extension TaskManager {
  /// The number of this manager's requests in progress, as an async sequence.
  public nonisolated var activity: NetworkActivity { NetworkActivity(calls) }
}

protocol ActivitySource: AnyObject, Sendable {
  /// The number of requests in progress.
  var activity: Int { get }

  /// Notifies `watch` of every future change. Holds `watch` weakly.
  func add(_ watch: ActivityWatch)
}

/// Notifies one reader of changes. Several changes can be merged into one notification.
final class ActivityWatch: Sendable {
  private struct State {
    /// Whether there is a change that the reader has not seen. Initially `true`.
    var hasChanged = true
    var reader: Waiter<Bool>?
  }

  private let state = Lock(State())

  func notify() {
    let reader = state.withLock { state in
      state.hasChanged = state.reader == nil
      return state.reader.take()
    }
    reader?.resume(returning: true)
  }

  /// Waits for the next unseen change. Returns `false` if the surrounding task is cancelled.
  func change() async -> Bool {
    await answer { waiter in
      state.withLock { state -> Bool? in
        if Task.isCancelled { return false }
        guard !state.hasChanged else {
          state.hasChanged = false
          return true
        }
        state.reader = waiter
        return nil
      }
    } onCancel: {
      state.withLock { $0.reader.take() }?.resume(returning: false)
    }
  }
}

struct ActivityWatches {
  private struct Entry {
    weak var watch: ActivityWatch?
  }

  private var entries: [Entry] = []

  var isEmpty: Bool { entries.isEmpty }

  mutating func add(_ watch: ActivityWatch) {
    if entries.count >= 16 { entries.removeAll { $0.watch == nil } }
    entries.append(Entry(watch: watch))
  }

  /// Returns the watches that still exist and removes the others.
  mutating func present() -> [ActivityWatch] {
    let present = entries.compactMap(\.watch)
    if present.count < entries.count { entries.removeAll { $0.watch == nil } }
    return present
  }
}

/// The requests in progress of all managers in the process.
final class ActivityRegistry: ActivitySource {
  private struct Entry {
    weak var registry: CallRegistry?
  }

  private struct State {
    var registries: [Entry] = []
    var threshold = CleanupThreshold()
    var watches = ActivityWatches()
  }

  static let all = ActivityRegistry()

  private let state = Lock(State())

  func add(_ registry: CallRegistry) {
    let watches = state.withLock { state in
      if state.threshold.isExceeded(by: state.registries.count) {
        state.registries.removeAll { $0.registry == nil }
        state.threshold.swept(leaving: state.registries.count)
      }
      state.registries.append(Entry(registry: registry))
      return state.watches.present()
    }
    for watch in watches { registry.add(watch) }
  }

  var registries: [CallRegistry] { state.withLock { $0.registries.compactMap(\.registry) } }

  var activity: Int { registries.reduce(0) { $0 + $1.activity } }

  func add(_ watch: ActivityWatch) {
    let registries = state.withLock { state in
      state.watches.add(watch)
      return state.registries.compactMap(\.registry)
    }
    for registry in registries { registry.add(watch) }
  }
}
