public import ErrandFoundation

/// Tasks that must not be lost: kept in a folder until they are delivered, in this run of the program or a later one.
///
///     let outbox = try OfflineQueue(in: folder, on: shop, types: [AddNote.self])
///     try await outbox.add(AddNote(uploadPayload: note), key: "notebook 7")
///     try await outbox.run { report in … }
///
/// Tasks of one key are delivered in the order in which they were added, those of different keys at the same time. Each keeps the
/// `Idempotency-Key` that it was given when it was added: a server that knows the key carries out once what may reach it twice, as where
/// the program is killed between the answer and its note.
///
/// A task that fails as where there is no network, no sign-in or an overloaded server stays, and those behind it wait. One that is
/// refused leaves the queue, and so do one whose time is over, and one of a type or a version that is not known and not migrated:
/// ``QueueReport`` tells of them, and their files are set aside in a folder. Only what was delivered is removed.
///
/// The folder is for this user alone (0700, files 0600). One process at a time has it, until the queue is released.
public actor OfflineQueue {
  /// Makes a task of one that is kept in an older version, or under the name of a type that is gone; nil where that cannot be done.
  public typealias Migration = @Sendable (QueuedTask) throws -> (any PersistentTask)?

  /// The most keys that are delivered at the same time.
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
  /// The reports that were not told yet: on files that were no tasks when the queue was opened, and of a delivery that was cancelled.
  private var untold: [QueueReport] = []
  /// Has ``run(_:)`` look for something to deliver.
  private var wake: AsyncStream<Void>.Continuation?

  /// Opens a queue, with what an earlier run of the program left in it.
  ///
  /// - Parameters:
  ///   - url: The folder; made where it is not there.
  ///   - server: The server that the tasks are sent to.
  ///   - types: The types of the tasks.
  ///   - lifetime: The time after which a task that could not be delivered expires; a week unless given.
  ///   - migration: Makes tasks of those in older versions.
  /// - Throws: ``TaskError`` with code `.transferInUse` while another process, or another queue, has the folder; with code
  ///   `.fileNotWritable` where it cannot be used; with code `.encodingFailed` where two types have one name.
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
        untold.append(QueueReport(fileName: aside, task: nil, outcome: .setAside(reason: "the file is no task")))
      }
    }
  }

  /// The types by name. The same one may be there twice.
  private static func named(_ types: [any PersistentTask.Type]) throws -> [String: any PersistentTask.Type] {
    try types.reduce(into: [:]) { named, type in
      if let other = named.updateValue(type, forKey: type.typeName), other != type {
        throw TaskError(
          .encodingFailed,
          "\(other) and \(type) are both named '\(type.typeName)': state another typeName in one of them",
          phase: .preparing, isSurelyNotSent: true)
      }
    }
  }

  /// The tasks that are to be delivered, in order.
  public var waiting: [QueuedTask] { entries }

  /// The files of the tasks that left the queue and were not delivered, in order. They stay until they are removed; one that is moved back
  /// into the folder is a task again when the queue is opened the next time.
  /// Throws the system's error where the folder cannot be read.
  public var setAside: [URL] { get throws { try folder.asideFiles() } }

  /// Keeps a task: once this returns it survives a crash.
  ///
  /// - Parameters:
  ///   - task: The task; its own server does not count.
  ///   - key: The line that it stands in; one for all unless given.
  ///   - lifetime: The time after which it expires; the queue's unless given.
  /// - Returns: The task as it is kept.
  /// - Throws: ``TaskError`` with code `.fileNotWritable`, as where the disk is full; with `.encodingFailed` where it cannot be encoded, or
  ///   its type is none of the queue's.
  @discardableResult
  public func add<Kept: PersistentTask>(_ task: Kept, key: String = "", lifetime: Duration? = nil) throws
    -> QueuedTask
  {
    guard types[Kept.typeName] == Kept.self else {
      throw TaskError(
        .encodingFailed, "\(Kept.self) is none of the queue's types: add it to those that it is made with",
        phase: .preparing, isSurelyNotSent: true)
    }
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

  // MARK: Delivering

  /// Delivers what can be delivered now, once, whatever is held up.
  ///
  /// - Returns: What became of the tasks that left the queue, and why others stay: of each key the first.
  /// - Throws: ``TaskError`` with code `.transferInUse` while it delivers already, as in ``run(_:)``; `CancellationError` when it was
  ///   cancelled: what was not delivered by then stays, and the next delivery reports on what was.
  @discardableResult
  public func deliver() async throws -> [QueueReport] {
    try begin()
    defer { isDelivering = false }
    let reports = Lock([QueueReport]())
    await pass { report in reports.withLock { $0.append(report) } }
    let told = reports.withLock { $0 }
    guard !Task.isCancelled else {
      untold = told.filter(\.hasLeft) + untold
      throw CancellationError()
    }
    return told
  }

  /// Delivers what is there and what is added, until it is cancelled. Where a task stays, its key is tried again after a second, and
  /// after twice as long each time, or as the server asks for, up to five minutes.
  ///
  /// - Parameter report: Is told of each task that leaves the queue, before its file does: of one twice where the program ends between
  ///   them. Also of one that stays, each time that it could not be delivered.
  /// - Throws: ``TaskError`` with code `.transferInUse` while it delivers already; `CancellationError` when it was cancelled.
  public func run(_ report: @escaping @Sendable (QueueReport) async -> Void) async throws {
    try begin()
    let (signals, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.wake = wake
    defer { (isDelivering, self.wake) = (false, nil) }
    await pass(signals, report)
    throw CancellationError()  // nothing else ends it
  }

  private func begin() throws {
    guard !isDelivering else { throw TransferDesk.inUse("the queue") }
    isDelivering = true
    (holds, active) = (QueueHolds(), [])
  }

  /// Returns when a task was added, the tasks of a key have come to an end, or the first of those that are held up may be sent again.
  private func rest(_ signals: AsyncStream<Void>) async {
    let clock = server.manager.clock
    var alarm: Task<Void, Never>?
    let idle = entries.lazy.map(\.key).filter { [active] in !active.contains($0) }
    // Where as many are under way as may be, one of them has to end first.
    if active.count < Self.mostKeys, let wait = holds.wait(for: idle, at: clock.now) {
      guard wait > .zero else { return }
      alarm = Task { [wake] in
        guard (try? await clock.sleep(for: wait)) != nil else { return }  // there was something to deliver first
        wake?.yield()
      }
    }
    for await _ in signals { break }
    alarm?.cancel()
  }

  /// Delivers what is not held up.
  ///
  /// - Parameters:
  ///   - signals: What says that there may be more, until it is cancelled. Without it the pass is the only one: a key that is held up in it
  ///     stays so to its end, however long that takes.
  ///   - report: Is told of each task that leaves the queue.
  private func pass(
    _ signals: AsyncStream<Void>? = nil, _ report: @escaping @Sendable (QueueReport) async -> Void
  ) async {
    while !untold.isEmpty { await report(untold.removeFirst()) }
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
          wake?.yield()  // another may be the next whose time comes
        }
        fill()
        if line == nil { listen() }
      }
    }
  }

  /// Delivers the tasks of a key, in order, until one stays.
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
      _ = try? folder.setAside(queued.fileName)  // where the disk is broken it stays, and is told of once more
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
    case .success(let restored): task = restored
    case .failure(let reason): return .leaves(.setAside(reason: reason.words))
    }
    let call = call(of: task, queued.idempotencyKey)
    do {
      let response = try await Self.perform(call)
      return fate(by: response) { .delivered(response.status) }
    } catch {
      // What a hook throws then is no reason to send again what the server has accepted.
      if let answer = call.state.withLock({ $0.failedAnswer }) {
        return fate(by: answer.head) { answer.isCancelled ? .delivered(answer.head.status) : .failed(error) }
      }
      guard QueueRules.stays(after: error) else { return .leaves(.failed(error)) }
      let now = server.manager.dates.now
      return .stays(error, retryAfter: (error as? TaskError).flatMap { RetryAfter.delay(in: $0.headers, now: now) })
    }
  }

  /// What an accepted answer makes of the task: `outcome`, unless it is not the server's word on it.
  private func fate(by answer: HTTPResponse, _ outcome: () -> QueueReport.Outcome) -> Fate {
    guard QueueRules.strays(answer) else { return .leaves(outcome()) }
    let error = TaskError(
      .badRedirect, "a redirect made a GET of the POST, as to a page where people sign in", phase: .finishing)
    return .stays(error.with(answer, Data(), server.configuration), retryAfter: nil)
  }

  @concurrent private static func perform(_ call: Call) async throws -> HTTPResponse {
    try await call.perform { $0.response }
  }

  private func call(of task: any PersistentTask, _ key: String) -> Call {
    var plan = task.plan
    plan.change { [server] plan in
      plan.server = server
      plan.headers[.idempotencyKey] = key
      (plan.cachePolicy, plan.hedging) = (.none, .none)
      if plan.idempotency != .neverRepeat { plan.idempotency = .key }
      // What is returned and no success was not delivered.
      if plan.acceptedStatuses.areUsual { plan.acceptedStatuses = AcceptedStatuses { $0.isAccepted } }
    }
    return Call(plan, .discarded)
  }

  // MARK: Restoring

  private struct Unknown: Error {
    let words: String
  }

  /// The task of one that is kept.
  private func restored(_ queued: QueuedTask) -> Result<any PersistentTask, Unknown> {
    do {
      if let type = types[queued.typeName], type.version == queued.version {
        return .success(try JSONDecoder().decode(type, from: Data(queued.payload.utf8)))
      }
      if let task = try migration?(queued) { return .success(task) }
    } catch {
      return .failure(Unknown(words: "\(queued.typeName) cannot be restored: \(error)"))
    }
    let known = types[queued.typeName].map { "of version \($0.version)" } ?? "not among the queue's types"
    return .failure(
      Unknown(words: "\(queued.typeName) is kept in version \(queued.version), and is \(known): give a migration"))
  }
}
