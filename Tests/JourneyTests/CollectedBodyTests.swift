#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Glibc
  import Testing

  /// The peak memory use of this process.
  private enum PeakMemory {
    private struct NotTold: Error {}

    /// Whether the system reports memory use without the overhead of a sanitizer.
    static let isMeasurable: Bool = {
      let process = dlopen(nil, RTLD_NOW)
      let isSanitized = dlsym(process, "__asan_init") != nil || dlsym(process, "__tsan_init") != nil
      return !isSanitized && (try? bytes()) != nil && (try? forget()) != nil
    }()

    /// Returns the peak resident size since the last ``forget()``.
    static func bytes() throws -> Int {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      guard let kilobytes = line.flatMap({ Int($0.filter(\.isNumber)) }) else { throw NotTold() }
      return kilobytes << 10
    }

    static func forget() throws {
      try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    }
  }

  /// A body collected in memory is held only once. The transport, the call and its record keep no copies.
  @Suite(
    .balancedEvents, .enabled(if: PeakMemory.isMeasurable, "memory use can't be measured"), .timeLimit(.minutes(3)))
  struct CollectedBodyTests {
    private static let size = 96 << 20

    /// Returns a peer that keeps no copy of the body that it sends.
    private static func peer(isChunked: Bool) throws -> WirePeer {
      let piece = String(repeating: "much of the same", count: 1 << 16)
      return try WirePeer { connection, _ in
        while connection.readRequest() != nil {
          let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(size)"
          connection.say("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n")
          for _ in 0..<(size / piece.utf8.count) {
            if isChunked { connection.say("\(String(piece.utf8.count, radix: 16))\r\n") }
            guard connection.say(isChunked ? "\(piece)\r\n" : piece) else { return }
          }
          if isChunked { connection.say("0\r\n\r\n") }
        }
      }
    }

    /// Returns the additional peak memory of a download, in multiples of the body size.
    private static func bodiesHeld(isChunked: Bool, isEchoed: Bool) async throws -> Double {
      let peer = try peer(isChunked: isChunked)
      var configuration = ServerConfiguration()
      configuration.defaultTimeout = .unlimited
      configuration.log = .discard
      let server = Server(Remote(peer.url()), configuration: configuration, environment: [:])
      let task = PlainTask().on(server).echo(isEchoed ? .full : .none)
      try PeakMemory.forget()
      let before = try PeakMemory.bytes()
      let data = try await task.downloadData()
      #expect(data.count == size)
      return Double(try PeakMemory.bytes() - before) / Double(size)
    }

    /// Returns the additional peak memory of an echoed body that the call discards, in multiples of the body size.
    private static func bodiesHeldOfDropped() async throws -> Double {
      let peer = try peer(isChunked: true)
      let echo = Shared("")
      var configuration = ServerConfiguration()
      configuration.defaultTimeout = .unlimited
      configuration.log = LogOutput { text in echo.withLock { $0 = text } }
      let server = Server(Remote(peer.url()), configuration: configuration, environment: [:])
      try PeakMemory.forget()
      let before = try PeakMemory.bytes()
      try await PlainTask().on(server).echo().run()
      #expect(echo.withLock { $0.contains("<\(size) bytes, over the limit of \(10 << 20)>") })
      return Double(try PeakMemory.bytes() - before) / Double(size)
    }

    // These are exit tests, because the peak memory would include other tests.

    @Test func `collecting a body of known length holds only one copy`() async {
      await #expect(processExitsWith: .success) {
        let held = try await CollectedBodyTests.bodiesHeld(isChunked: false, isEchoed: false)
        #expect(held < 1.3, "\(held)")
      }
    }

    @Test func `collecting a body of unknown length holds only one copy`() async {
      await #expect(processExitsWith: .success) {
        let held = try await CollectedBodyTests.bodiesHeld(isChunked: true, isEchoed: false)
        #expect(held < 1.3, "\(held)")
      }
    }

    @Test func `collecting an echoed body keeps no additional copy`() async {
      await #expect(processExitsWith: .success) {
        let held = try await CollectedBodyTests.bodiesHeld(isChunked: false, isEchoed: true)
        #expect(held < 1.3, "\(held)")
      }
    }

    @Test func `discarding an echoed body keeps only the bytes that are logged`() async {
      await #expect(processExitsWith: .success) {
        let held = try await CollectedBodyTests.bodiesHeldOfDropped()
        #expect(held < 0.5, "\(held)")
      }
    }
  }
#endif
