import ErrandFoundation

/// The stored response to a task, and then the remote's; what ``PayloadDownloadingTask/updates()`` gives.
///
/// Each is the result of a call of its own. It gives one response where nothing is stored.
public struct TaskUpdates<Described: PayloadDownloadingTask>: AsyncSequence, Sendable {
  /// A response; its ``HTTPHeaderName/cacheStatus`` says where it comes from.
  public typealias Element = TaskResponse<Described.DownloadPayload>

  private let plan: TaskPlan

  init(_ plan: TaskPlan) { self.plan = plan }

  /// Begins with the stored response.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(plan) }

  /// Gives the stored response, and then the remote's.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let plan: TaskPlan
    private var calls: [CachePolicy]
    /// The stored response that was given; nil where there was none.
    private var given: Stored?

    /// The parts of a stored response by which another one differs.
    private struct Stored: Equatable {
      let date: Date
      let headers: HTTPHeaders

      /// Nil for a response of the remote.
      init?(_ response: HTTPResponse) {
        guard let date = response.storedAt else { return nil }
        self.date = date
        headers = HTTPHeaders(response.headers.filter { $0.name != .age && $0.name != .cacheStatus })
      }
    }

    init(_ plan: TaskPlan) {
      self.plan = plan
      let server = plan.server.configuration.cachePolicy
      calls = (plan.cachePolicy.isInherited ? server : plan.cachePolicy).callsForUpdates
    }

    /// The next response; nil after the last.
    /// Throws ``TaskError``, what a hook threw, or `CancellationError` when the surrounding task is cancelled.
    public mutating func next() async throws -> Element? {
      while !calls.isEmpty {
        let policy = calls.removeFirst()
        do {
          let response = try await response(policy)
          // One that never changes is not asked for again (RFC 8246 §2.1), and is not given twice.
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
      plan.headers = try plan.presentHeaders  // the caller may have taken its time
      return try await Call.perform(plan, .memory) {
        TaskResponse(try $0.decoded(Described.DownloadPayload.self), $0)
      }
    }

    /// True where the stored response is missing, or is one of before the payload's type was changed: the remote's follows.
    private static func isPassedOver(_ error: TaskError) -> Bool {
      [.notCached, .decodingFailed, .badStatus].contains(error.code) && !error.isOfAnotherCall
    }
  }
}

extension PayloadDownloadingTask {
  /// The stored response, whatever its age, and then the remote's.
  ///
  ///     for try await widget in GetWidget(id: 7).updates() { show(widget.payload) }
  ///
  /// Where nothing is stored only the remote's comes. Where the remote fails, the stored one has come before the error is
  /// thrown. The second is also given where the remote says that the first is still good; one that is fresh and `immutable` is all there is.
  public func updates() -> TaskUpdates<Self> { TaskUpdates(plan) }
}
