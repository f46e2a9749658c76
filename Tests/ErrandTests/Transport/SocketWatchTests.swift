#if os(Linux)
  import CCurl
  import Glibc
  import Testing

  @testable import Errand

  /// Each test uses its own sockets, with descriptors that no other test uses.
  @Suite(.timeLimit(.minutes(1))) struct SocketWatchTests {
    private let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    private let input = EPOLLIN.rawValue

    /// Creates a pair of sockets, gives the first one the number `descriptor`, and returns the other.
    private func connect(_ descriptor: Int32) -> Int32 {
      var pair: [Int32] = [0, 0]
      // A process that another test starts must not inherit the sockets, because epoll reports a socket until its last
      // copy is closed.
      socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair)
      dup2(pair[0], descriptor)
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      Glibc.close(pair[0])
      return pair[1]
    }

    /// The number of sockets with a pending event.
    private var reports: Int32 {
      var events = [epoll_event](repeating: epoll_event(), count: 8)
      return epoll_wait(epoll, &events, 8, 0)
    }

    private func say(_ text: String, over descriptor: Int32) { _ = write(descriptor, text, text.utf8.count) }

    @Test func `a connection stays registered between requests until unexpected data arrives`() {
      let number: Int32 = 9001
      var watch = SocketWatch(epoll: epoll)
      let peer = connect(number)
      watch.opened(number, of: 1)
      watch.watch(number, input, of: 1)
      watch.watch(number, 0, of: 1)
      say("early", over: peer)
      #expect(reports == 1, "the descriptor is still registered")
      let report = watch.report(number)
      #expect(report == .left)
      #expect(reports == 0, "the descriptor is no longer registered")
      watch.watch(number, input, of: 1)
      #expect(reports == 1)
      watch.closing(number)
      Glibc.close(number)
      Glibc.close(peer)
    }

    @Test func `watches a descriptor again after it is closed without notification`() {
      let number: Int32 = 9002
      var watch = SocketWatch(epoll: epoll)
      var peer = connect(number)
      // Simulate a connection that is closed while connecting.
      watch.opened(number, of: 1)
      watch.watch(number, EPOLLOUT.rawValue, of: 1)
      Glibc.close(number)
      Glibc.close(peer)
      watch.watch(number, 0, of: 1)
      // Simulate two consecutive DNS lookups on sockets that libcurl opens and closes internally.
      for _ in 0..<2 {
        peer = connect(number)
        watch.watch(number, input, of: 1)
        say("found", over: peer)
        #expect(reports == 1)
        watch.watch(number, 0, of: 1)
        Glibc.close(number)
        Glibc.close(peer)
      }
    }

    @Test func `registers a reused descriptor again`() {
      let number: Int32 = 9003
      var watch = SocketWatch(epoll: epoll)
      for multi: UInt32 in 1...3 {
        let peer = connect(number)
        watch.opened(number, of: multi)
        watch.watch(number, input, of: multi)
        say("x", over: peer)
        #expect(reports == 1)
        watch.watch(number, 0, of: multi)
        watch.closing(number)
        Glibc.close(number)
        Glibc.close(peer)
      }
    }

    @Test func `an exchange that ends early leaves its connection idle`() {
      let number: Int32 = 9004
      var watch = SocketWatch(epoll: epoll)
      let peer = connect(number)
      watch.opened(number, of: 7)
      let key = watch.join(number, after: SocketWatch.Key())
      watch.watch(number, EPOLLOUT.rawValue, of: 7)
      watch.stands(key)
      watch.watch(number, 0, of: 7)
      watch.leave(key, at: 1)
      say("unexpected", over: peer)
      #expect(reports == 1)
      let report = watch.report(number)
      #expect(report == .idle)
      let multi = watch.hear(number).multi
      #expect(multi == 7)
      watch.closing(number)
      Glibc.close(number)
      Glibc.close(peer)
    }

    @Test func `an event on an unwatched connection is reported to its multi handle`() {
      let number: Int32 = 9005
      var watch = SocketWatch(epoll: epoll)
      let peer = connect(number)
      watch.opened(number, of: 7)
      watch.leave(watch.join(number, after: SocketWatch.Key()), at: 1)
      say("unexpected", over: peer)
      let multi = watch.hear(number).multi
      #expect(reports == 1)
      #expect(multi == 7)
      watch.closing(number)
      Glibc.close(number)
      Glibc.close(peer)
    }

    @Test func `watches a socket again after a write pause, even if libcurl has accepted bytes`() {
      let number: Int32 = 9006
      var watch = SocketWatch(epoll: epoll)
      let peer = connect(number)
      watch.opened(number, of: 1)
      watch.watch(number, input | EPOLLOUT.rawValue, of: 1)
      for takesBytes in [false, true] {
        watch.asked(number)
        #expect(reports == 1, "the socket is writable")
        while !watch.restsFromWriting(number) {}
        #expect(reports == 0, "writing is paused")
        if takesBytes { watch.asked(number) }
        watch.endRest(of: number)
        #expect(reports == 1, "the pause has ended")
      }
      watch.closing(number)
      Glibc.close(number)
      Glibc.close(peer)
    }

    @Test func `ignores an invalid descriptor`() {
      var watch = SocketWatch(epoll: epoll)
      watch.watch(-1, input, of: 1)
      watch.watch(-1, 0, of: 1)
      let report = watch.report(-1)
      #expect(report == .unwanted)
    }
  }
#endif
