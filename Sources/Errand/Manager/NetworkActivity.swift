/// The number of calls in flight as it changes, for an indicator of network activity.
///
///     for await count in shop.manager.activity { indicator.isHidden = count == 0 }
///
/// It begins with the present number and has no end. A reader that is slow gets the latest number and not those before it, so the
/// last one that it gets is right. A call counts from its start to its end; a stream until its body was read or released.
public struct NetworkActivity: AsyncSequence, Sendable {
  /// The number of calls.
  public typealias Element = Int

  private let source: any ActivitySource

  init(_ source: any ActivitySource) { self.source = source }

  /// That of all managers of the process.
  public static let all = NetworkActivity(ActivityRegistry.all)

  /// The number at this moment.
  public var count: Int { source.count }

  /// Begins to read.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source) }

  /// Reads the number.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let source: any ActivitySource
    private let watch = ActivityWatch()
    private var last: Int?

    init(_ source: any ActivitySource) {
      self.source = source
      source.add(watch)
    }

    /// The next number that differs from the last; nil when the surrounding task is cancelled.
    public mutating func next() async -> Int? {
      while await watch.change() {
        // Read here and not where it changed: what is read last is the latest.
        let count = source.count
        guard count != last else { continue }
        last = count
        return count
      }
      return nil
    }
  }
}

extension TaskManager {
  /// The number of this manager's calls in flight, as it changes.
  public nonisolated var activity: NetworkActivity { NetworkActivity(calls) }
}

/// Something whose number of calls can be watched.
protocol ActivitySource: AnyObject, Sendable {
  var count: Int { get }

  /// Notifies `watch` of every change from now on. Holds it weakly.
  func add(_ watch: ActivityWatch)
}

/// Tells one reader that the number has changed, not how often.
final class ActivityWatch: Sendable {
  private struct State {
    /// True where there is something that the reader has not seen, as there is in the beginning.
    var hasChanged = true
    var reader: Waiter<Bool>?
  }

  private let state = Lock(State())

  func tell() {
    let reader = state.withLock { state in
      state.hasChanged = state.reader == nil
      return state.reader.take()
    }
    reader?.resume(returning: true)
  }

  /// Waits for a change since the last; false when the surrounding task is cancelled.
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

/// Watches, without holding them.
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

  /// The watches that still exist; drops the others.
  mutating func present() -> [ActivityWatch] {
    let present = entries.compactMap(\.watch)
    if present.count < entries.count { entries.removeAll { $0.watch == nil } }
    return present
  }
}

/// The desks of all managers.
final class ActivityRegistry: ActivitySource {
  private struct Entry {
    weak var desk: CallDesk?
  }

  private struct State {
    var desks: [Entry] = []
    var threshold = SweepThreshold()
    var watches = ActivityWatches()
  }

  static let all = ActivityRegistry()

  private let state = Lock(State())

  /// Adds a desk, for as long as it lives.
  func add(_ desk: CallDesk) {
    let watches = state.withLock { state in
      if state.threshold.isExceeded(by: state.desks.count) {
        state.desks.removeAll { $0.desk == nil }
        state.threshold.swept(leaving: state.desks.count)
      }
      state.desks.append(Entry(desk: desk))
      return state.watches.present()
    }
    for watch in watches { desk.add(watch) }
  }

  /// Those that live.
  var desks: [CallDesk] { state.withLock { $0.desks.compactMap(\.desk) } }

  var count: Int { desks.reduce(0) { $0 + $1.count } }

  func add(_ watch: ActivityWatch) {
    let desks = state.withLock { state in
      state.watches.add(watch)
      return state.desks.compactMap(\.desk)
    }
    for desk in desks { desk.add(watch) }
  }
}
