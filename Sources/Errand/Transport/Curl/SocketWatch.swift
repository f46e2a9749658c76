#if os(Linux)
  import CCurl
  import Glibc

  /// What the kernel reports of every socket: the loop's side of the epoll.
  ///
  /// libcurl says twice a request what it wants to hear of a connection: something, then nothing. A connection stays
  /// registered in between, which saves both calls into the kernel; what comes while nobody listens ends that.
  struct SocketWatch {
    private struct Entry {
      /// The multi handle whose socket it is.
      var multi: UInt32 = 0
      /// What libcurl wants to hear of.
      var wanted: UInt32 = 0
      /// What the kernel reports; 0 where it is not registered.
      var armed: UInt32 = 0
      /// Whether its closing will be told, once it stands. Of what libcurl opens for itself it is not.
      var isConnection = false
    }

    private let epoll: Int32
    private var entries: [Entry] = []

    init(epoll: Int32) { self.epoll = epoll }

    mutating func opened(_ descriptor: Int32) {
      reserve(descriptor)
      entries[Int(descriptor)] = Entry(isConnection: true)
    }

    /// The socket is about to be closed.
    mutating func closing(_ descriptor: Int32) {
      guard isKnown(descriptor) else { return }
      // A child process that is being started may hold it a moment longer, and would keep it registered.
      forget(descriptor)
    }

    /// From now on `events` are wanted of a socket of `multi`; none when they are 0.
    mutating func watch(_ descriptor: Int32, _ events: UInt32, of multi: UInt32) {
      reserve(descriptor)
      let entry = entries[Int(descriptor)]
      entries[Int(descriptor)].wanted = events
      guard events != 0 else {
        // What is read from is a connection that stands, whose closing is told. One that is being made may be given up
        // without a word.
        if !entry.isConnection || entry.armed != EPOLLIN.rawValue { forget(descriptor) }
        return
      }
      // What libcurl opens for itself may have been closed and opened again behind our back.
      guard !entry.isConnection || entry.armed != events || entry.multi != multi else { return }
      var event = epoll_event(
        events: events, data: epoll_data_t(u64: UInt64(multi) << 32 | UInt64(UInt32(bitPattern: descriptor))))
      // A descriptor's number may have been closed and used again behind our back: what the kernel says counts.
      if entry.armed != 0 {
        if epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event) != 0, errno == ENOENT {
          epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)
        }
      } else if epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0, errno == EEXIST {
        epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event)
      }
      entries[Int(descriptor)].armed = events
      entries[Int(descriptor)].multi = multi
    }

    /// Whether anybody wants to hear of the socket; where not, nothing more is reported of it.
    mutating func isWanted(_ descriptor: Int32) -> Bool {
      guard isKnown(descriptor) else { return false }
      if entries[Int(descriptor)].wanted != 0 { return true }
      disarm(descriptor)
      return false
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

    private func isKnown(_ descriptor: Int32) -> Bool { descriptor >= 0 && descriptor < entries.count }

    private mutating func reserve(_ descriptor: Int32) {
      let missing = Int(descriptor) + 1 - entries.count
      if missing > 0 { entries.append(contentsOf: repeatElement(Entry(), count: missing)) }
    }
  }
#endif
