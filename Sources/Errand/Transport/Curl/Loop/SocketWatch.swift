#if os(Linux)
  import CCurl
  import ErrandFoundation

  /// The kernel's reports on every socket, and its exchanges: the loop's side of the epoll.
  ///
  /// libcurl says twice a request what it wants to hear of a connection: something, then nothing. A connection stays
  /// registered in between, which saves both calls into the kernel, and tells when the server says something unasked.
  struct SocketWatch {
    /// A socket, told from later ones of the same number.
    struct Key: Equatable {
      var descriptor: Int32 = -1
      var generation: UInt32 = 0
    }

    /// The meaning of a report of the kernel.
    enum Report {
      /// libcurl wants to hear it.
      case wanted
      /// A connection that carries no exchange has something to say.
      case idle
      /// A connection that carries no exchange, and waits for none; nothing more is reported.
      case left
      /// It is not wanted now; nothing more is reported.
      case unwanted
    }

    private struct Entry {
      /// The multi handle whose socket it is.
      var multi: UInt32 = 0
      /// The events that libcurl wants.
      var wanted: UInt32 = 0
      /// The events that the kernel reports; 0 where it is not registered.
      var armed: UInt32 = 0
      var generation: UInt32 = 0
      /// The number of exchanges over it.
      var users: Int32 = 0
      /// Its closing is told, once it stands. libcurl does not tell that of sockets that it opens for itself.
      var isConnection = false
      /// It is no longer being made: a request was written to it, or libcurl has read from it.
      var stands = false
      /// It speaks HTTP/2 or later: what it says unasked may be in order.
      var isMultiplexed = false
      /// The number of reports since it carried an exchange.
      var remarks: UInt8 = 0
      /// Its number in the kernel, which no other socket has meanwhile.
      var inode: UInt = 0
      /// Since when it carries no exchange.
      var idleSince = UInt64.max
      /// The number of reports that it is writable, and nothing else, since libcurl took bytes of a stream; nil where it
      /// took none.
      var futileReports: UInt8?
    }

    /// The number of futile reports before a socket rests: the bytes that libcurl takes at a time, 128 KiB, may
    /// take many writes.
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

    /// A request is about to be written to a connection. Its whole exchange may be over before libcurl wants to hear of it.
    mutating func stands(_ key: Key) {
      if isOpen(key) { entries[Int(key.descriptor)].stands = true }
    }

    /// The socket is about to be closed.
    mutating func closing(_ descriptor: Int32) {
      guard isKnown(descriptor) else { return }
      // A child process that is being started may hold it a moment longer, and would keep it registered.
      forget(descriptor)
    }

    /// From now on `events` are wanted of a socket of `multi`; none when they are 0.
    ///
    /// libcurl 7.88 may name the socket of a connection that has lost it, which is -1.
    mutating func watch(_ descriptor: Int32, _ events: UInt32, of multi: UInt32) {
      guard reserve(descriptor) else { return }
      let entry = entries[Int(descriptor)]
      entries[Int(descriptor)].wanted = events
      if events & EPOLLIN.rawValue != 0 { entries[Int(descriptor)].stands = true }
      guard events != 0 else {
        // What is read from is a connection that stands, whose closing is told. One that is being made may be given up
        // without a word.
        if !entry.isConnection || !entry.stands {
          forget(descriptor)
        } else if entry.armed != EPOLLIN.rawValue {
          disarm(descriptor)
        }
        return
      }
      // What libcurl opens for itself may have been closed and opened again behind our back.
      guard !entry.isConnection || entry.armed != events || entry.multi != multi else { return }
      arm(descriptor, events, of: multi)
    }

    // MARK: Exchanges

    /// An exchange goes over the socket; returns the key that ends this.
    mutating func join(_ descriptor: Int32, after last: Key) -> Key {
      guard isKnown(descriptor), entries[Int(descriptor)].isConnection else { return last }
      let key = Key(descriptor: descriptor, generation: entries[Int(descriptor)].generation)
      guard key != last else { return last }
      leave(last, at: 0)
      entries[Int(descriptor)].users += 1
      return key
    }

    /// An exchange is over. Its connection, if it is kept, is watched until the next one.
    mutating func leave(_ key: Key, at now: UInt64) {
      guard isOpen(key) else { return }
      entries[Int(key.descriptor)].users -= 1
      let entry = entries[Int(key.descriptor)]
      guard entry.users <= 0, now != 0 else { return }
      entries[Int(key.descriptor)].remarks = 0
      entries[Int(key.descriptor)].idleSince = now
      if entry.armed != EPOLLIN.rawValue, entry.wanted == 0 { arm(key.descriptor, EPOLLIN.rawValue, of: entry.multi) }
    }

    /// The connection of an exchange carries streams: until it is closed, whatever becomes of them.
    mutating func multiplexes(_ key: Key) {
      if isOpen(key) { entries[Int(key.descriptor)].isMultiplexed = true }
    }

    /// True where a connection speaks HTTP/2 or later.
    func carriesStreams(_ descriptor: Int32) -> Bool { isKnown(descriptor) && entries[Int(descriptor)].isMultiplexed }

    /// True where the connection of an exchange is open.
    func isOpen(_ key: Key) -> Bool {
      isKnown(key.descriptor) && entries[Int(key.descriptor)].isConnection
        && entries[Int(key.descriptor)].generation == key.generation
    }

    /// What a connection is there for now.
    enum Use {
      case making, exchanges, none
    }

    /// The present use of a connection.
    func use(of descriptor: Int32) -> Use {
      guard isKnown(descriptor) else { return .none }
      let entry = entries[Int(descriptor)]
      return entry.stands ? entry.users > 0 ? .exchanges : .none : .making
    }

    /// The number of exchanges on the connection of one; nil where it is closed.
    func users(of key: Key) -> Int32? { isOpen(key) ? entries[Int(key.descriptor)].users : nil }

    /// Something was reported of the socket.
    mutating func report(_ descriptor: Int32) -> Report {
      guard isKnown(descriptor) else { return .unwanted }
      let entry = entries[Int(descriptor)]
      if entry.wanted != 0 { return .wanted }
      if entry.isConnection, entry.users <= 0, entry.idleSince != .max { return .idle }
      disarm(descriptor)
      return entry.isConnection && entry.users <= 0 ? .left : .unwanted
    }

    /// A connection that carries no exchange, and over which nothing may come meanwhile.
    func awaitsNothing(_ descriptor: Int32) -> Bool {
      guard isKnown(descriptor) else { return false }
      let entry = entries[Int(descriptor)]
      return entry.isConnection && entry.users <= 0 && entry.wanted == 0 && entry.idleSince != .max
        && !entry.isMultiplexed
    }

    /// True where anything that came over an idle connection before `now`, the instant of a turn, was reported.
    func isWatched(_ descriptor: Int32, since now: UInt64) -> Bool {
      awaitsNothing(descriptor) && entries[Int(descriptor)].armed & EPOLLIN.rawValue != 0
        && entries[Int(descriptor)].idleSince < now
    }

    /// Nothing more is reported of the socket until its next exchange.
    mutating func disregard(_ descriptor: Int32) { disarm(descriptor) }

    /// An idle socket is listened to again.
    mutating func regard(_ descriptor: Int32) {
      guard isKnown(descriptor) else { return }
      let entry = entries[Int(descriptor)]
      guard entry.isConnection, entry.users <= 0, entry.wanted == 0, entry.armed == 0, entry.idleSince != .max else {
        return
      }
      arm(descriptor, EPOLLIN.rawValue, of: entry.multi)
    }

    /// The events that libcurl waits for.
    func wanted(of descriptor: Int32) -> UInt32 { isKnown(descriptor) ? entries[Int(descriptor)].wanted : 0 }

    // MARK: Writing for nothing

    /// A socket was reported writable, and nothing else; true where it rests from now on.
    ///
    /// Over HTTP/2 libcurl 7.88 wants to write as long as there is a body to send, also where the server's window is shut
    /// (RFC 9113 §5.2): every wait would return at once. What opens the window makes the socket readable.
    mutating func restsFromWriting(_ descriptor: Int32) -> Bool {
      let entry = entries[Int(descriptor)]
      guard let reports = entry.futileReports else { return false }
      entries[Int(descriptor)].futileReports = min(reports + 1, Self.patience)
      guard reports + 1 >= Self.patience else { return false }
      arm(descriptor, entry.wanted & ~EPOLLOUT.rawValue, of: entry.multi)
      return true
    }

    /// libcurl takes bytes of a stream's body.
    mutating func asked(_ descriptor: Int32) {
      if isKnown(descriptor) { entries[Int(descriptor)].futileReports = 0 }
    }

    /// Ends a rest: that the socket is writable is of interest again. libcurl does not say so once more, also where it took
    /// bytes meanwhile.
    mutating func endRest(of descriptor: Int32) {
      guard isKnown(descriptor) else { return }
      let entry = entries[Int(descriptor)]
      guard let reports = entry.futileReports, entry.wanted != 0, entry.armed != entry.wanted else { return }
      entries[Int(descriptor)].futileReports = min(reports, Self.patience - 1)
      arm(descriptor, entry.wanted, of: entry.multi)
    }

    /// The idle connections whose time is over at `now`, and when the next one's is.
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

    /// The multi handle of an idle connection, and whether what it says may be in order.
    mutating func hear(_ descriptor: Int32) -> (multi: UInt32, isInOrder: Bool) {
      entries[Int(descriptor)].remarks &+= 1
      let entry = entries[Int(descriptor)]
      return (entry.multi, entry.isMultiplexed && entry.remarks < 100)
    }

    /// Puts `dead`, a socket whose other end is closed, in the place of a connection: whatever it had to say, and will
    /// say, is gone, and libcurl finds it closed by any check.
    mutating func condemn(_ descriptor: Int32, _ dead: Int32) {
      // libcurl closes what it gives up while it is being made without a word, and its number may be another's by now.
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
      // A descriptor's number may have been closed and used again behind our back: what the kernel says counts.
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

    /// Makes room for a socket's entry; false for what is none.
    private mutating func reserve(_ descriptor: Int32) -> Bool {
      let missing = Int(descriptor) + 1 - entries.count
      if missing > 0 { entries.append(contentsOf: repeatElement(Entry(), count: missing)) }
      return descriptor >= 0
    }
  }
#endif
