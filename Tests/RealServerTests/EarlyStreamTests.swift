#if os(Linux)
  import Errand
  import Foundation
  import Glibc
  import Testing

  /// HTTP/2 servers that respond completely before reading the request (RFC 9113 §8.1).
  @Suite(
    .speaksHTTP2,
    .enabled(if: HTTP2Peer.isExpected, "openssl, or python3 with the package h2, is not installed"),
    .timeLimit(.minutes(2)))
  struct EarlyStreamTests {
    private let peer: HTTP2Peer

    init() async throws { peer = try await HTTP2Peer() }

    private static let bodies = [
      HTTPBody.bytes(Data(count: 32 << 20)), .stream { AsyncStream { Data(count: 64 << 10) } },
    ]

    @Test(arguments: ["window", "nothing", "all"], ["length/stay", "length/reset", "none/stay", "none/reset"])
    func `a complete response ends the exchange, regardless of how much of the request was read`(
      reading: String, answer: String
    ) async throws {
      for body in Self.bodies {
        let transport = try peer.transport()
        let response = try await transport.send(peer.early("\(reading)/\(answer)", body))
        let text = String(decoding: try await response.body.collect(), as: UTF8.self)
        #expect(answer.hasPrefix("none") ? response.status == .noContent && text.isEmpty : text == "ok")
      }
    }

    /// libcurl 7.88 loses data that arrives together with the reset, and reports neither the data nor the reset.
    @Test(arguments: ["window", "nothing", "all"])
    func `a response of unknown length that precedes a reset is complete or reports the reset`(reading: String)
      async throws
    {
      for body in Self.bodies {
        let transport = try peer.transport()
        do {
          let text = try await transport.send(peer.early("\(reading)/open/reset", body)).body.collect()
          #expect(text == Data("ok".utf8))
        } catch let error as TaskError where reading == "nothing" && error.timer == .attempt {
          // A busy machine reads the response and the reset at once and gets no other event, so the exchange times out.
        } catch let error as TaskError {
          #expect(error.code == .truncatedBody && error.reason.contains("reset"), "\(error)")
        }
      }
    }

    /// Servers written in Go sometimes send both in one TLS record. libcurl 7.88 then drops the data that it has read,
    /// and if the peer reads nothing, only a timeout ends the exchange.
    @Test(arguments: ["window", "nothing", "all"], ["length", "open"])
    func `a response in the same TLS record as a reset is complete or fails`(reading: String, length: String)
      async throws
    {
      let timeouts = Timeouts(attempt: reading == "nothing" ? .seconds(2) : .seconds(30))
      for body in Self.bodies {
        let transport = try peer.transport()
        do {
          let response = try await transport.send(peer.early("\(reading)/\(length)/reset-along", body, timeouts))
          let text = try await response.body.collect()
          #expect(text == Data("ok".utf8))
        } catch let error as TaskError where reading == "nothing" && error.timer == .attempt {
          continue
        } catch let error as TaskError {
          #expect(error.code == .truncatedBody || error.code == .connectionLost, "\(error)")
        }
      }
    }

    /// libcurl 7.88 drops the body and reports success if nothing is left to send.
    @Test(arguments: ["open", "length"])
    func `a response is complete or fails if the upload's source ends after the reset`(length: String) async throws {
      let transport = try peer.transport()
      let (chunks, source) = AsyncStream.makeStream(of: Data.self)
      source.yield(Data(count: 1000))
      do {
        let response = try await transport.send(peer.early("all/\(length)/reset-pinged", .stream { chunks }))
        for _ in 0..<200 where try await !peer.noted().contains("PONG") { try await Task.sleep(for: .milliseconds(20)) }
        source.finish()
        let text = try await response.body.collect()
        #expect(text == Data("ok".utf8))
      } catch let error as TaskError {
        #expect(error.code == .truncatedBody, "\(error)")
      }
    }

    @Test(arguments: ["open", "length"])
    func `a response is complete or fails if a reset arrives instead of a 100`(length: String) async throws {
      let transport = try peer.transport()
      var request = peer.early("all/\(length)/reset-along", .bytes(Data(count: 1000)))
      request.options.continueTimeout = .seconds(20)
      do {
        let text = try await transport.send(request).body.collect()
        #expect(text == Data("ok".utf8))
      } catch let error as TaskError {
        #expect(error.code == .truncatedBody || error.code == .connectionLost, "\(error)")
      }
    }

    /// In this test, the transport reads the reset after the request has ended.
    @Test(arguments: [100, 100_000], [false, true])
    func `a response of unknown length is complete if the request ends first`(size: Int, isStated: Bool) async throws {
      let transport = try peer.transport()
      for _ in 0..<20 {
        let (chunks, source) = AsyncStream.makeStream(of: Data.self)
        source.yield(Data(count: size))
        let body = HTTPBody.stream(length: isStated ? Int64(size) : nil) { chunks }
        var request = HTTPRequest(.put, peer.url.appendingPathComponent("echo"), body: body)
        request.options.timeouts = Timeouts(attempt: .seconds(30))
        let response = try await transport.send(request)
        if !isStated { source.finish() }  // with a stated length, all bytes are already sent
        #expect(try await response.body.collect() == Data("all of \(size)".utf8))
        source.finish()
      }
    }

    // All transports of a process share their threads, so these tests measure them in separate processes. The first
    // one waits for four time limits of 2 s.

    @Test(.staysBusy) func `the loop sleeps until the timeout if libcurl misses the end of a response`() async {
      await #expect(processExitsWith: .success) {
        let peer = try await HTTP2Peer()
        for reading in ["window", "nothing"] {
          for body in EarlyStreamTests.bodies {
            let response = try await peer.transport().send(
              peer.early("\(reading)/open/stay", body, Timeouts(idle: .seconds(2), attempt: .seconds(30))))
            let before = EarlyStreamTests.loopTime
            let error = await #expect(throws: TaskError.self) { try await response.body.collect() }
            try #require(error?.timer == .idle, "\(error.map { "\($0)" } ?? "")")
            try #require(EarlyStreamTests.loopTime - before < 0.5)
          }
        }
      }
    }

    @Test(.staysBusy) func `the loop sleeps while the server's window is closed and resumes when it opens`() async {
      await #expect(processExitsWith: .success) {
        let peer = try await HTTP2Peer()
        let before = EarlyStreamTests.loopTime
        let body = HTTPBody.bytes(Data(count: 8 << 20))
        let request = HTTPRequest(.put, peer.url.appendingPathComponent("pause"), body: body)
        let answer = try await peer.transport().send(request).body.collect()
        try #require(answer == Data("\(8 << 20)".utf8))
        try #require(EarlyStreamTests.loopTime - before < 0.5)
      }
    }

    @Test func `the loop sleeps while the body has nothing to send`() async {
      await #expect(processExitsWith: .success) {
        let peer = try await HTTP2Peer()
        let (chunks, continuation) = AsyncStream.makeStream(of: Data.self)
        continuation.yield(Data(count: 1000))
        let before = EarlyStreamTests.loopTime
        let request = peer.early("all/open/stay", .stream { chunks }, Timeouts(attempt: .seconds(2)))
        let error = await #expect(throws: TaskError.self) {
          try await peer.transport().send(request).body.collect()
        }
        try #require(error?.timer == .attempt)
        try #require(EarlyStreamTests.loopTime - before < 0.5)
      }
    }

    /// The CPU time of the transports' threads in seconds.
    private static var loopTime: Double {
      let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
      let sum = threads.reduce(0) { $0 + ticks(of: $1) }
      return Double(sum) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    private static func ticks(of thread: String) -> Int {
      guard let stat = try? String(contentsOfFile: "/proc/self/task/\(thread)/stat", encoding: .utf8),
        stat.contains("(errand-curl)")
      else { return 0 }
      return stat.split(separator: " ").dropFirst(13).prefix(2).reduce(0) { $0 + (Int($1) ?? 0) }
    }
  }

  extension HTTP2Peer {
    fileprivate func early(
      _ path: String, _ body: HTTPBody, _ timeouts: Timeouts = Timeouts(attempt: .seconds(30))
    ) -> HTTPRequest {
      var request = HTTPRequest(.put, url.appendingPathComponent("early/\(path)"), body: body)
      request.options.timeouts = timeouts
      return request
    }
  }
#endif
