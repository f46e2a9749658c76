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
/// refused leaves the queue, and so does one whose time is over; ``QueueReport`` tells of both. One of a type or a version that is not
/// known is migrated, or set aside in a folder. Nothing else is ever removed.
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
  private var isDelivering = false
  /// The reports on files that were no tasks when the queue was opened.
  private var early: [QueueReport] = []
  /// Ends the wait of ``run(_:)`` for something to deliver.
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
  ///   `.fileNotWritable` where it cannot be used.
  public init(
    in url: URL, on server: Server, types: [any PersistentTask.Type], lifetime: Duration = .seconds(7 * 86_400),
    migration: Migration? = nil
  ) throws {
    self.server = server
    self.lifetime = lifetime
    self.migration = migration
    self.types = Dictionary(types.map { ($0.typeName, $0) }, uniquingKeysWith: { first, _ in first })
    folder = try QueueFolder.open(url)
    for name in try folder.taskNames() {
      nextID = max(nextID, (QueuedTask.number(of: name) ?? 0) + 1)
      let task = try folder.read(name).flatMap { try? JSONDecoder().decode(QueuedTask.self, from: $0) }
      if let task, task.format == QueuedTask.format, task.fileName == name {
        entries.append(task)
      } else {
        try folder.setAside(name)
        early.append(QueueReport(fileName: name, task: nil, outcome: .setAside(reason: "the file is no task")))
      }
    }
  }

  /// The tasks that are to be delivered, in order.
  public var waiting: [QueuedTask] { entries }

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

  /// Delivers what can be delivered now, once.
  ///
  /// - Returns: What became of the tasks that left the queue.
  /// - Throws: ``TaskError`` with code `.transferInUse` while it delivers already; `CancellationError` when it was cancelled: what was not
  ///   delivered by then stays.
  @discardableResult
  public func deliver() async throws -> [QueueReport] {
    let reports = Lock([QueueReport]())
    let keep: @Sendable (QueueReport) async -> Void = { report in reports.withLock { $0.append(report) } }
    try await deliver(keep)
    return reports.withLock { $0 }
  }

  /// Delivers what is there and what is added, until it is cancelled. Where tasks stay, it tries again after a second, and after twice
  /// as long each time, up to five minutes.
  ///
  /// - Parameter report: Is told of each task that leaves the queue.
  /// - Throws: ``TaskError`` with code `.transferInUse` while it delivers already; `CancellationError` when it was cancelled.
  public func run(_ report: @escaping @Sendable (QueueReport) async -> Void) async throws {
    let (signals, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.wake = wake
    defer { self.wake = nil }
    var delay = Duration.seconds(1)
    while true {
      let count = try await deliver(report)
      if count > 0 { delay = .seconds(1) }
      if entries.isEmpty {
        for await _ in signals { break }
      } else {
        try await server.manager.clock.sleep(for: delay)
        delay = min(delay * 2, .seconds(300))
      }
      try Task.checkCancellation()
    }
  }

  /// Delivers what can be delivered; returns how many tasks left the queue.
  @discardableResult
  private func deliver(_ report: @escaping @Sendable (QueueReport) async -> Void) async throws -> Int {
    guard !isDelivering else { throw TransferDesk.inUse("the queue") }
    isDelivering = true
    defer { isDelivering = false }
    var count = early.count
    for found in early { await report(found) }
    early = []
    await withTaskGroup(of: (key: String, count: Int, isHeldUp: Bool).self) { group in
      var (active, heldUp) = (Set<String>(), Set<String>())
      func fill() {
        for key in entries.map(\.key) where active.count < Self.mostKeys && !heldUp.contains(key) {
          guard active.insert(key).inserted else { continue }
          group.addTask { [self] in await line(key, report) }
        }
      }
      fill()
      for await line in group {
        active.remove(line.key)
        count += line.count
        if line.isHeldUp { heldUp.insert(line.key) }
        fill()
      }
    }
    try Task.checkCancellation()
    return count
  }

  /// Delivers the tasks of a key, in order, until one stays.
  private func line(_ key: String, _ report: @Sendable (QueueReport) async -> Void) async -> (
    key: String, count: Int, isHeldUp: Bool
  ) {
    var count = 0
    while !Task.isCancelled, let queued = entries.first(where: { $0.key == key }) {
      guard let outcome = await outcome(of: queued) else { return (key, count, true) }
      do {
        if case .setAside = outcome { try folder.setAside(queued.fileName) } else { folder.remove(queued.fileName) }
      } catch {
        return (key, count, true)  // it is still there, and is set aside another time
      }
      entries.removeAll { $0.id == queued.id }
      count += 1
      await report(QueueReport(fileName: queued.fileName, task: queued, outcome: outcome))
    }
    return (key, count, Task.isCancelled)
  }

  /// What becomes of a task; nil where it stays.
  private func outcome(of queued: QueuedTask) async -> QueueReport.Outcome? {
    guard server.manager.dates.now < queued.expires else { return .expired }
    let task: any PersistentTask
    switch restored(queued) {
    case .success(let restored): task = restored
    case .failure(let reason): return .setAside(reason: reason.words)
    }
    do {
      return .delivered(try await send(task, queued.idempotencyKey).status)
    } catch {
      return QueueRules.stays(after: error) ? nil : .failed(error)
    }
  }

  private func send(_ task: any PersistentTask, _ key: String) async throws -> HTTPResponse {
    var plan = task.plan
    plan.change { [server] plan in
      plan.server = server
      plan.headers[.idempotencyKey] = key
      plan.idempotency = .automatic
    }
    return try await Call.perform(plan, .discarded) { $0.response }
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
