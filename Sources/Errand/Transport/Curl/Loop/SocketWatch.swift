#if os(Linux)
  import CCurl
  import ErrandFoundation

  /// The epoll events and exchanges of every socket on a loop.
  ///
  /// For each request, libcurl asks for a connection's events, and later stops asking. The connection stays registered
  /// between requests, which saves two system calls and detects unsolicited data from the server.
  struct SocketWatch {
    /// Identifies a socket, even if its descriptor is reused.
    struct Key: Equatable {
      var descriptor: Int32 = -1
      var generation: UInt32 = 0
    }

    enum Report {
      case wanted
      /// An idle connection has received data.
      case idle
      /// The connection has no exchange and is not kept for reuse. Its events are now off.
      case left
      /// libcurl does not want the event. The socket's events are now off.
      case unwanted
    }

    private struct Entry {
      var multi: UInt32 = 0
      var wanted: UInt32 = 0
      /// The events registered with epoll, or 0 if the socket is not registered.
      var armed: UInt32 = 0
      var generation: UInt32 = 0
      var users: Int32 = 0
      /// Whether the socket is a connection, and not one of libcurl's internal sockets. libcurl reports when it closes
      /// an established connection.
      var isConnection = false
      /// Whether the connection is established: libcurl is about to write a request, or has asked to read.
      var stands = false
      /// Whether the connection uses HTTP/2 or later. Unsolicited data may be valid in that case.
      var isMultiplexed = false
      /// The number of events since the last exchange.
      var remarks: UInt8 = 0
      /// The inode of the socket, which is unique while the socket is open.
      var inode: UInt = 0
      var idleSince = UInt64.max
      /// The number of write-only events since libcurl last read bytes of a stream's request body, or `nil` if it
      /// hasn't read any.
      var futileReports: UInt8?
    }

    /// The number of futile write events after which polling for writing is suspended. libcurl reads 128 KiB at a time,
    /// which may need many writes.
    private static let patience: UInt8 = 64

    private let epoll: Int32
    private var entries: [Entry] = []
    private var lastGeneration: UInt32 = 0

    init(epoll: Int32) { self.epoll = epoll }

    mutating func opened(_ descriptor: Int32, of multi: UInt32) {
      guard reserve(descriptor) else { return }
      lastGeneration &+= 1
      entries[Int(descriptor)] = Entry(
        multi: multi, generation: lastGeneration, isConnection: true, inode: Self.inode(of: descriptor))
    }

    /// Called before the request is written. The exchange may end before libcurl asks for events.
    mutating func stands(_ key: Key) {
      if isOpen(key) { entries[Int(key.descriptor)].stands = true }
    }

    mutating func closing(_ descriptor: Int32) {
      guard isKnown(descriptor) else { return }
      // A child process that is starting may keep the socket open a moment longer, and the socket would stay
      // registered.
      forget(descriptor)
    }

    /// Sets the events that libcurl wants for a socket, or 0 for none. libcurl 7.88 may pass the descriptor -1 for a
    /// connection that has lost its socket.
    mutating func watch(_ descriptor: Int32, _ events: UInt32, of multi: UInt32) {
      guard reserve(descriptor) else { return }
      let entry = entries[Int(descriptor)]
      entries[Int(descriptor)].wanted = events
      if events & EPOLLIN.rawValue != 0 { entries[Int(descriptor)].stands = true }
      guard events != 0 else {
        // libcurl reports when it closes an established connection, but may silently drop one that is still connecting.
        if !entry.isConnection || !entry.stands {
          forget(descriptor)
        } else if entry.armed != EPOLLIN.rawValue {
          disarm(descriptor)
        }
        return
      }
      // libcurl may have closed and reopened an internal socket without notice.
      guard !entry.isConnection || entry.armed != events || entry.multi != multi else { return }
      arm(descriptor, events, of: multi)
    }

    // MARK: Exchanges

    /// Adds an exchange to the socket. Returns the key for ``leave(_:at:)``.
    mutating func join(_ descriptor: Int32, after last: Key) -> Key {
      guard isKnown(descriptor), entries[Int(descriptor)].isConnection else { return last }
      let key = Key(descriptor: descriptor, generation: entries[Int(descriptor)].generation)
      guard key != last else { return last }
      leave(last, at: 0)
      entries[Int(descriptor)].users += 1
      return key
    }

    /// Removes an exchange. If the connection is kept, it is watched until the next exchange.
    mutating func leave(_ key: Key, at now: UInt64) {
      guard isOpen(key) else { return }
      entries[Int(key.descriptor)].users -= 1
      let entry = entries[Int(key.descriptor)]
      guard entry.users <= 0, now != 0 else { return }
      entries[Int(key.descriptor)].remarks = 0
      entries[Int(key.descriptor)].idleSince = now
      if entry.armed != EPOLLIN.rawValue, entry.wanted == 0 { arm(key.descriptor, EPOLLIN.rawValue, of: entry.multi) }
    }

    mutating func multiplexes(_ key: Key) {
      if isOpen(key) { entries[Int(key.descriptor)].isMultiplexed = true }
    }

    func carriesStreams(_ descriptor: Int32) -> Bool { isKnown(descriptor) && entries[Int(descriptor)].isMultiplexed }

    func isOpen(_ key: Key) -> Bool {
      isKnown(key.descriptor) && entries[Int(key.descriptor)].isConnection
        && entries[Int(key.descriptor)].generation == key.generation
    }

    enum Use {
      case making, exchanges, none
    }

    func use(of descriptor: Int32) -> Use {
      guard isKnown(descriptor) else { return .none }
      let entry = entries[Int(descriptor)]
      return entry.stands ? entry.users > 0 ? .exchanges : .none : .making
    }

    /// Returns the number of exchanges on the connection, or `nil` if it is closed.
    func users(of key: Key) -> Int32? { isOpen(key) ? entries[Int(key.descriptor)].users : nil }

    mutating func report(_ descriptor: Int32) -> Report {
      guard isKnown(descriptor) else { return .unwanted }
      let entry = entries[Int(descriptor)]
      if entry.wanted != 0 { return .wanted }
      if entry.isConnection, entry.users <= 0, entry.idleSince != .max { return .idle }
      disarm(descriptor)
      return entry.isConnection && entry.users <= 0 ? .left : .unwanted
    }

    /// Whether the connection is idle, so that any data from the server is unsolicited.
    func awaitsNothing(_ descriptor: Int32) -> Bool {
      guard isKnown(descriptor) else { return false }
      let entry = entries[Int(descriptor)]
      return entry.isConnection && entry.users <= 0 && entry.wanted == 0 && entry.idleSince != .max
        && !entry.isMultiplexed
    }

    /// Whether all data that arrived on an idle connection before `now`, the start of an iteration, was reported.
    func isWatched(_ descriptor: Int32, since now: UInt64) -> Bool {
      awaitsNothing(descriptor) && entries[Int(descriptor)].armed & EPOLLIN.rawValue != 0
        && entries[Int(descriptor)].idleSince < now
    }

    /// Turns off the socket's events until its next exchange.
    mutating func unwatch(_ descriptor: Int32) { disarm(descriptor) }

    mutating func watch(_ descriptor: Int32) {
      guard isKnown(descriptor) else { return }
      let entry = entries[Int(descriptor)]
      guard entry.isConnection, entry.users <= 0, entry.wanted == 0, entry.armed == 0, entry.idleSince != .max else {
        return
      }
      arm(descriptor, EPOLLIN.rawValue, of: entry.multi)
    }

    func wanted(of descriptor: Int32) -> UInt32 { isKnown(descriptor) ? entries[Int(descriptor)].wanted : 0 }

    // MARK: Suspended writing

    /// Handles an event that only reports the socket as writable. Returns whether polling for writing is now suspended.
    ///
    /// Over HTTP/2, libcurl 7.88 polls for writing as long as there is a body to send, even if the server's
    /// flow-control window is closed (RFC 9113 §5.2). Without a suspension, every wait would return immediately. A
    /// window update makes the socket readable.
    mutating func restsFromWriting(_ descriptor: Int32) -> Bool {
      let entry = entries[Int(descriptor)]
      guard let reports = entry.futileReports else { return false }
      entries[Int(descriptor)].futileReports = min(reports + 1, Self.patience)
      guard reports + 1 >= Self.patience else { return false }
      arm(descriptor, entry.wanted & ~EPOLLOUT.rawValue, of: entry.multi)
      return true
    }

    /// Called when libcurl reads bytes of a stream's request body.
    mutating func asked(_ descriptor: Int32) {
      if isKnown(descriptor) { entries[Int(descriptor)].futileReports = 0 }
    }

    /// Resumes polling for writing. libcurl doesn't ask for that again, even if it has read bytes in the meantime.
    mutating func endRest(of descriptor: Int32) {
      guard isKnown(descriptor) else { return }
      let entry = entries[Int(descriptor)]
      guard let reports = entry.futileReports, entry.wanted != 0, entry.armed != entry.wanted else { return }
      entries[Int(descriptor)].futileReports = min(reports, Self.patience - 1)
      arm(descriptor, entry.wanted, of: entry.multi)
    }

    func expired(at now: UInt64, lifetime: UInt64) -> (descriptors: [Int32], next: UInt64) {
      var expired: [Int32] = []
      var next = UInt64.max
      for (index, entry) in entries.enumerated()
      where entry.isConnection && entry.users <= 0 && entry.wanted == 0 && entry.idleSince != .max {
        let end = entry.idleSince + lifetime
        if end <= now { expired.append(Int32(index)) } else { next = min(next, end) }
      }
      return (expired, next)
    }

    /// Counts an event on an idle connection. Returns the connection's multi, and whether the received data may be
    /// valid.
    mutating func hear(_ descriptor: Int32) -> (multi: UInt32, isInOrder: Bool) {
      entries[Int(descriptor)].remarks &+= 1
      let entry = entries[Int(descriptor)]
      return (entry.multi, entry.isMultiplexed && entry.remarks < 100)
    }

    /// Replaces a connection with `dead`, a socket whose other end is closed. Unread data is lost, and every check by
    /// libcurl finds the connection closed.
    mutating func scheduleClose(_ descriptor: Int32, _ dead: Int32) {
      // libcurl silently closes a socket that it abandons while connecting, so the descriptor may have been reused.
      guard entries[Int(descriptor)].inode == Self.inode(of: descriptor) else { return forget(descriptor) }
      disarm(descriptor)
      entries[Int(descriptor)].idleSince = .max
      _ = dup2(dead, descriptor)
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    // MARK: The kernel

    private mutating func arm(_ descriptor: Int32, _ events: UInt32, of multi: UInt32) {
      var event = epoll_event(
        events: events, data: epoll_data_t(u64: UInt64(multi) << 32 | UInt64(UInt32(bitPattern: descriptor))))
      // The descriptor may have been closed and reused without notice, so let the kernel decide.
      if entries[Int(descriptor)].armed != 0 {
        if epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event) != 0, errno == ENOENT {
          epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)
        }
      } else if epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0, errno == EEXIST {
        epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event)
      }
      entries[Int(descriptor)].armed = events
      entries[Int(descriptor)].multi = multi
    }

    private mutating func forget(_ descriptor: Int32) {
      disarm(descriptor)
      entries[Int(descriptor)] = Entry()
    }

    private mutating func disarm(_ descriptor: Int32) {
      guard entries[Int(descriptor)].armed != 0 else { return }
      epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nil)  // it may be closed already
      entries[Int(descriptor)].armed = 0
    }

    static func inode(of descriptor: Int32) -> UInt {
      var status = stat()
      return fstat(descriptor, &status) == 0 ? UInt(status.st_ino) : 0
    }

    private func isKnown(_ descriptor: Int32) -> Bool { descriptor >= 0 && descriptor < entries.count }

    /// Makes room for a socket's entry. Returns `false` for an invalid descriptor.
    private mutating func reserve(_ descriptor: Int32) -> Bool {
      let missing = Int(descriptor) + 1 - entries.count
      if missing > 0 { entries.append(contentsOf: repeatElement(Entry(), count: missing)) }
      return descriptor >= 0
    }
  }
#endif
