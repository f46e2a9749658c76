// Differences between the C libraries, and functions that our own methods would shadow.

#if canImport(Darwin)
  import Darwin

  enum MockPlatform {
    static let stream = SOCK_STREAM
    static let tcp = IPPROTO_TCP
    static let sendFlags: Int32 = 0
    static let peekFlags = MSG_PEEK | MSG_DONTWAIT

    /// Makes a broken connection cause an error instead of a signal.
    static func silenceBrokenPipe(_ descriptor: Int32) {
      var isOn: Int32 = 1
      setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }

    static func accept(_ descriptor: Int32) -> Int32 { Darwin.accept(descriptor, nil, nil) }

    static func listen(_ descriptor: Int32, backlog: Int32) -> Int32 { Darwin.listen(descriptor, backlog) }
  }
#elseif canImport(Musl)
  import Musl

  enum MockPlatform {
    static let stream = Int32(SOCK_STREAM)
    static let tcp = Int32(IPPROTO_TCP)
    static let sendFlags = Int32(MSG_NOSIGNAL)
    static let peekFlags = Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)

    /// Does nothing, because `sendFlags` suppresses the signal.
    static func silenceBrokenPipe(_: Int32) {}

    static func accept(_ descriptor: Int32) -> Int32 { Musl.accept(descriptor, nil, nil) }

    static func listen(_ descriptor: Int32, backlog: Int32) -> Int32 { Musl.listen(descriptor, backlog) }
  }
#else
  import Glibc

  enum MockPlatform {
    static let stream = Int32(SOCK_STREAM.rawValue)
    static let tcp = Int32(IPPROTO_TCP)
    static let sendFlags = Int32(MSG_NOSIGNAL)
    static let peekFlags = Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)

    /// Does nothing, because `sendFlags` suppresses the signal.
    static func silenceBrokenPipe(_: Int32) {}

    static func accept(_ descriptor: Int32) -> Int32 { Glibc.accept(descriptor, nil, nil) }

    static func listen(_ descriptor: Int32, backlog: Int32) -> Int32 { Glibc.listen(descriptor, backlog) }
  }
#endif
