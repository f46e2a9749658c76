public import Errand
public import ErrandFoundation

/// A persistent queue of tasks. Each task is stored in a folder until it is delivered, even across relaunches.
///
///     let outbox = try OfflineQueue(in: folder, on: shop, types: [AddNote.self])
///     try await outbox.add(AddNote(uploadPayload: note), key: "notebook 7")
///     try await outbox.run { report in … }
///
/// Tasks with the same key are delivered in the order in which they were added. Tasks with different keys are delivered
/// concurrently. Each task is assigned an `Idempotency-Key` when it is added. A server that supports this header
/// processes a task only once, even if the program is killed before it records the response and resends the task after
/// a relaunch.
///
/// A task that fails temporarily stays in the queue, and later tasks with the same key wait. Temporary failures include
/// a lost network connection, an expired session and an overloaded server. A task leaves the queue undelivered if the
/// server rejects it, if it expires, or if its type or version is unknown and can't be migrated. Such a task is
/// reported in a ``QueueReport``, and its file is moved to a separate folder. Only the files of delivered tasks are
/// removed.
///
/// Only the current user can access the folder and its files (modes 0700 and 0600). Only one queue, in any process, can
/// have the folder open. The folder stays open until that queue is deallocated.
public actor OfflineQueue {
  /// Converts a stored task whose version is outdated or whose type was removed. Returns `nil` if that is not possible.
  public typealias Migration = @Sendable (QueuedTask) throws -> (any PersistentTask)?

  private static let mostKeys = 8

  private let folder: QueueFolder
  private let server: Server
  private let types: [String: any PersistentTask.Type]
  private let lifetime: Duration
  private let migration: Migration?
  private var entries: [QueuedTask] = []
  private var nextID = 1
  private var holds = QueueHolds()
  private var isDelivering = false
  /// The keys whose tasks are being delivered.
  private var active: Set<String> = []
  /// The reports to send at the start of the next delivery: invalid files found when the queue was opened, and the
  /// results of a cancelled delivery.
  private var unreported: [QueueReport] = []
  /// Wakes ``run(_:)`` to look for deliverable tasks.
  private var wake: AsyncStream<Void>.Continuation?

  /// Opens a queue with the tasks stored by earlier launches of the program.
  ///
  /// - Parameters:
  ///   - url: The folder. It is created if it does not exist.
  ///   - server: The server to send the tasks to.
  ///   - types: The types of the tasks.
  ///   - lifetime: The time after which an undelivered task expires. Defaults to one week.
  ///   - migration: Converts tasks whose version is outdated or whose type was removed.
  /// - Throws: `TaskError` with code `.transferInUse` if another queue, in any process, has opened the folder;
  ///   `.fileNotWritable` if the folder can't be used; or `.encodingFailed` if two types have the same name.
  public init(
    in url: URL, on server: Server, types: [any PersistentTask.Type], lifetime: Duration = .seconds(7 * 86_400),
    migration: Migration? = nil
  ) throws {
    self.server = server
    self.lifetime = lifetime
    self.migration = migration
    self.types = try Self.named(types)
    folder = try QueueFolder.open(url)
    nextID = try folder.largestNumber() + 1
    for name in try folder.taskNames() {
      if let task = try folder.read(name) {
        entries.append(task)
      } else {
        let aside = try folder.setAside(name)
        unreported.append(
          QueueReport(fileName: aside, task: nil, outcome: .setAside(reason: "the file does not contain a task")))
      }
    }
  }

  /// Returns the types, keyed by name. A type may be repeated.
  private static func named(_ types: [any PersistentTask.Type]) throws -> [String: any PersistentTask.Type] {
    try types.reduce(into: [:]) { named, type in
      if let other = named.updateValue(type, forKey: type.typeName), other != type {
        throw TaskError(
          .encodingFailed,
          "\(other) and \(type) have the same typeName '\(type.typeName)': each type needs a unique typeName",
          phase: .preparing, wasNotSent: true)
      }
    }
  }

  /// The tasks to be delivered, in order.
  public var waiting: [QueuedTask] { entries }

  /// The files of the tasks that left the queue undelivered, in order. They are kept until you remove them. If you move
  /// a file back into the queue's folder, its task is queued again when the queue is next opened. Throws a system error
  /// if the folder can't be read.
  public var setAside: [URL] { get throws { try folder.asideFiles() } }

  /// Adds a task. When this method returns, the task is stored and will survive a crash.
  ///
  /// - Parameters:
  ///   - task: The task. Its own server is ignored.
  ///   - key: The task's key. Tasks with the same key are delivered in order. By default, all tasks share one key.
  ///   - lifetime: The time after which the task expires. Defaults to the queue's lifetime.
  /// - Returns: The stored task.
  /// - Throws: `TaskError` with code `.fileNotWritable` if the task can't be stored, for example because the disk is
  ///   full; `.encodingFailed` if it can't be encoded or its type is not one of the queue's types; or `.badRequest` if
  ///   it is `.neverRepeat`, because a delivery may be repeated.
  @discardableResult
  public func add<Kept: PersistentTask>(_ task: Kept, key: String = "", lifetime: Duration? = nil) throws
    -> QueuedTask
  {
    guard types[Kept.typeName] == Kept.self else {
      throw TaskError(
        .encodingFailed,
        "\(Kept.self) is not one of the queue's types: add it to the types passed to OfflineQueue.init",
        phase: .preparing, wasNotSent: true)
    }
    if let reason = Self.refusal(of: task) { throw TaskError(.badRequest, reason, phase: .preparing, wasNotSent: true) }
    let payload = try TaskError.encoding("the task", of: Kept.self) { try JSONEncoder().encode(task) }
    let now = server.manager.dates.now
    let queued = QueuedTask(
      id: nextID, typeName: Kept.typeName, version: Kept.version, key: key,
      idempotencyKey: server.manager.random.key(), created: now,
      expires: now.addingTimeInterval((lifetime ?? self.lifetime) / .seconds(1)),
      payload: String(decoding: payload, as: UTF8.self))
    try folder.write(try JSONEncoder().encode(queued), to: queued.fileName)
    nextID += 1
    entries.append(queued)
    wake?.yield()
    return queued
  }

  /// Returns the reason if the queue can't deliver the task.
  private static func refusal(of task: any PersistentTask) -> String? {
    guard task.idempotency == .neverRepeat else { return nil }
    return "\(type(of: task)) is .neverRepeat, but a queue delivers a task again if its response was lost: use .key"
  }

  // MARK: Delivering

  /// Delivers the stored tasks, ignoring any retry delays. After a temporary failure, the remaining tasks with the same
  /// key are skipped.
  ///
  /// - Returns: Reports on the tasks that left the queue, and on the first remaining task of each key.
  /// - Throws: `TaskError` with code `.transferInUse` if a delivery is already running, for example in ``run(_:)``;
  ///   `CancellationError` if cancelled. After a cancellation, undelivered tasks stay in the queue, and the next
  ///   delivery reports the tasks that have left it.
  @discardableResult
  public func deliver() async throws -> [QueueReport] {
    try begin()
    defer { isDelivering = false }
    let reports = Lock([QueueReport]())
    await pass { report in reports.withLock { $0.append(report) } }
    let reported = reports.withLock { $0 }
    guard !Task.isCancelled else {
      unreported = reported.filter(\.hasLeft) + unreported
      throw CancellationError()
    }
    return reported
  }

  /// Delivers the stored tasks, and tasks added later, until it is cancelled. A task that fails temporarily is retried
  /// after one second. The delay doubles after each failure, up to five minutes. A longer delay in the server's
  /// `Retry-After` takes precedence, up to the same limit.
  ///
  /// - Parameter report: Called for each task that leaves the queue, before its file is removed. If the program ends in
  ///   between, the task is reported again. Also called each time a delivery fails and the task stays in the queue.
  /// - Throws: `TaskError` with code `.transferInUse` if a delivery is already running; `CancellationError` when
  ///   cancelled.
  public func run(_ report: @escaping @Sendable (QueueReport) async -> Void) async throws {
    try begin()
    let (signals, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.wake = wake
    defer { (isDelivering, self.wake) = (false, nil) }
    await pass(signals, report)
    throw CancellationError()  // only cancellation ends the loop
  }

  private func begin() throws {
    guard !isDelivering else { throw TransferCoordinator.inUse("the queue") }
    isDelivering = true
    (holds, active) = (QueueHolds(), [])
  }

  /// Waits until a task is added, a key finishes, or the delay of a waiting key ends.
  private func rest(_ signals: AsyncStream<Void>) async {
    let clock = server.manager.clock
    var alarm: Task<Void, Never>?
    let idle = entries.lazy.map(\.key).filter { [active] in !active.contains($0) }
    // At the limit, a key must finish before another one starts.
    if active.count < Self.mostKeys, let wait = holds.wait(for: idle, at: clock.now) {
      guard wait > .zero else { return }
      alarm = Task { [wake] in
        guard (try? await clock.sleep(for: wait)) != nil else { return }  // cancelled by a signal
        wake?.yield()
      }
    }
    for await _ in signals { break }
    alarm?.cancel()
  }

  /// Delivers the tasks that do not have to wait and looks for more after each signal. Without `signals`, makes a
  /// single pass, which does not retry failed keys.
  private func pass(
    _ signals: AsyncStream<Void>? = nil, _ report: @escaping @Sendable (QueueReport) async -> Void
  ) async {
    while !unreported.isEmpty { await report(unreported.removeFirst()) }
    await withTaskGroup(of: (key: String, stays: Bool)?.self) { group in
      var heldUp = Set<String>()
      func listen() {
        guard let signals, !Task.isCancelled else { return }
        group.addTask { [self] in
          await rest(signals)
          return nil
        }
      }
      func fill() {
        let now = server.manager.clock.now
        for key in entries.map(\.key) where active.count < Self.mostKeys {
          guard !Task.isCancelled, !heldUp.contains(key), !holds.holds(key, at: now), active.insert(key).inserted
          else { continue }
          group.addTask { [self] in await line(key, report) }
        }
      }
      fill()
      listen()
      for await line in group {
        if let line {
          active.remove(line.key)
          if signals == nil, line.stays { heldUp.insert(line.key) }
          wake?.yield()  // wake `rest`, because another key's delay may now end first
        }
        fill()
        if line == nil { listen() }
      }
    }
  }

  /// Delivers a key's tasks in order, until one has to stay in the queue.
  private func line(_ key: String, _ report: @Sendable (QueueReport) async -> Void) async -> (key: String, stays: Bool)
  {
    while !Task.isCancelled, let queued = entries.first(where: { $0.key == key }) {
      let outcome: QueueReport.Outcome
      switch await fate(of: queued) {
      case .leaves(let known): outcome = known
      case .stays(let error, let retryAfter):
        guard !Task.isCancelled else { return (key, true) }
        holds.hold(key, at: server.manager.clock.now, retryAfter: retryAfter)
        if !(error is CancellationError) {
          await report(QueueReport(fileName: queued.fileName, task: queued, outcome: .stays(error)))
        }
        return (key, true)
      }
      await report(QueueReport(fileName: queued.fileName, task: queued, outcome: outcome))
      remove(queued, after: outcome)
      holds.release(key)
    }
    return (key, false)
  }

  private func remove(_ queued: QueuedTask, after outcome: QueueReport.Outcome) {
    entries.removeAll { $0.id == queued.id }
    if case .delivered = outcome {
      folder.remove(queued.fileName)
    } else {
      _ = try? folder.setAside(queued.fileName)  // if this fails, the next launch reports the task again
    }
  }

  private enum Fate {
    case leaves(QueueReport.Outcome)
    case stays(any Error, retryAfter: Duration?)
  }

  private func fate(of queued: QueuedTask) async -> Fate {
    guard server.manager.dates.now < queued.expires else { return .leaves(.expired) }
    let task: any PersistentTask
    switch restored(queued) {
    case .success(let restored):
      if let reason = Self.refusal(of: restored) { return .leaves(.setAside(reason: reason)) }
      task = restored
    case .failure(let reason): return .leaves(.setAside(reason: reason.words))
    }
    let call = call(of: task, queued.idempotencyKey)
    do {
      let response = try await Self.perform(call)
      return fate(by: response) { .delivered(response.status) }
    } catch {
      // The server has accepted the task, so a hook's error, or a deadline that passes during a hook, must not cause a
      // retry.
      if let accepted = call.accepted {
        let isCancelled = call.isCancelled || error is CancellationError
        return fate(by: accepted) { isCancelled ? .delivered(accepted.status) : .failed(error) }
      }
      guard QueueRules.stays(after: error) else { return .leaves(.failed(error)) }
      let now = server.manager.dates.now
      return .stays(error, retryAfter: (error as? TaskError).flatMap { RetryAfter.delay(in: $0.headers, now: now) })
    }
  }

  /// Returns the result for an accepted response: `outcome`, unless the response may come from a sign-in page.
  private func fate(by answer: HTTPResponse, _ outcome: () -> QueueReport.Outcome) -> Fate {
    guard QueueRules.strays(answer) else { return .leaves(outcome()) }
    let error = TaskError(
      .badRedirect, "a redirect changed the POST to a GET, probably to show a sign-in page", phase: .finishing)
    return .stays(error.with(answer, Data(), server.configuration), retryAfter: nil)
  }

  @concurrent private static func perform(_ call: Call) async throws -> HTTPResponse {
    try await call.perform { $0.response }
  }

  private func call(of task: any PersistentTask, _ key: String) -> Call {
    var plan = task.plan
    plan.change { [server] plan in
      plan.server = server
      plan.operation = OperationKey(key)
      (plan.cachePolicy, plan.hedging) = (.none, .none)
      plan.idempotency = .key
      // Throw an error for a status that is not a success, even if the task would return the response.
      if plan.acceptedStatuses.areUsual { plan.acceptedStatuses = AcceptedStatuses { $0.isAccepted } }
    }
    return Call(plan, .discarded)
  }

  // MARK: Restoring

  private struct Unknown: Error {
    let words: String
  }

  private func restored(_ queued: QueuedTask) -> Result<any PersistentTask, Unknown> {
    do {
      if let type = types[queued.typeName], type.version == queued.version {
        return .success(try JSONDecoder().decode(type, from: Data(queued.payload.utf8)))
      }
      if let task = try migration?(queued) { return .success(task) }
    } catch {
      return .failure(Unknown(words: "\(queued.typeName) cannot be restored: \(error)"))
    }
    let known =
      types[queued.typeName].map { "the current version is \($0.version)" } ?? "it is not one of the queue's types"
    return .failure(
      Unknown(words: "\(queued.typeName) was stored as version \(queued.version), but \(known): provide a migration"))
  }
}
