import ErrandFoundation

/// A sequence of the stored response to a task, followed by the server's response. Returned by
/// ``PayloadDownloadingTask/updates()``.
///
/// Each response is the result of a separate call. If nothing is stored, there is only the server's response.
public struct TaskUpdates<Described: PayloadDownloadingTask>: AsyncSequence, Sendable {
  /// A response. Its ``HTTPResponse/cacheStatus`` shows where it came from.
  public typealias Element = TaskResponse<Described.DownloadPayload>

  private let plan: TaskPlan

  init(_ plan: TaskPlan) { self.plan = plan }

  /// Creates an iterator that starts with the stored response.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(plan) }

  /// Iterates over the stored response and the server's response.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let plan: TaskPlan
    private var calls: [CachePolicy]
    /// The stored response that has already been returned, if any.
    private var given: Stored?

    /// Identifies a stored response.
    private struct Stored: Equatable {
      let date: Date
      let headers: HTTPHeaders

      init?(_ response: HTTPResponse) {
        guard let date = response.cachedAt else { return nil }
        self.date = date
        headers = HTTPHeaders(response.headers.filter { $0.name != .age && $0.name != .cacheStatus })
      }
    }

    init(_ plan: TaskPlan) {
      var plan = plan
      plan.keepSettings()
      self.plan = plan
      let server = plan.settings.configuration.cachePolicy
      calls = (plan.cachePolicy.isInherited ? server : plan.cachePolicy).callsForUpdates
    }

    /// Returns the next response, or `nil` after the last. Throws ``TaskError``, any error thrown by a hook, or
    /// `CancellationError` if the surrounding task is cancelled.
    public mutating func next() async throws -> Element? {
      while !calls.isEmpty {
        let policy = calls.removeFirst()
        do {
          let response = try await response(policy)
          // The second call may return an immutable response (RFC 8246 §2.1) from the cache again: skip it.
          let stored = Stored(response.response)
          if stored != nil, stored == given { continue }
          given = stored
          return response
        } catch let error as TaskError where !calls.isEmpty && Self.isPassedOver(error) {
          continue
        }
      }
      return nil
    }

    private func response(_ policy: CachePolicy) async throws -> Element {
      var plan = plan
      plan.cachePolicy = policy
      plan.headers = try plan.presentHeaders  // the fields may have changed since the last call
      return try await Call.perform(plan, .memory) {
        TaskResponse(try $0.decoded(Described.DownloadPayload.self), $0)
      }
    }

    /// Whether to ignore the error because the stored response is missing or was stored for an older payload type.
    private static func isPassedOver(_ error: TaskError) -> Bool {
      [.notCached, .decodingFailed, .badStatus].contains(error.code) && !error.isFromAnotherCall
    }
  }
}

extension PayloadDownloadingTask {
  /// Returns the stored response, regardless of its age, and then the server's response.
  ///
  ///     for try await widget in GetWidget(id: 7).updates() { show(widget.payload) }
  ///
  /// If nothing is stored, only the server's response is returned. If the server fails, the stored response is returned
  /// before the error is thrown. If the server confirms that the stored response is still valid, it is returned a
  /// second time, unless it is fresh and `immutable`.
  public func updates() -> TaskUpdates<Self> { TaskUpdates(plan) }
}
