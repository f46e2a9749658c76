import ErrandInspection

#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Glibc
  import Testing

  /// The time to the first byte with servers that take 200 ms to respond.
  @Suite(.balancedEvents, .timeLimit(.minutes(2)))
  struct FirstByteTests {
    private static let wait = Duration.milliseconds(200)

    private func peer(interim: String = "") throws -> WirePeer {
      try WirePeer { connection, _ in
        while let head = connection.readHead() {
          if !interim.isEmpty { connection.say(interim) }
          let length = head.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
          if let length, let count = Int(length.dropFirst(16)) { _ = connection.read(count) }
          usleep(200_000)
          connection.answer("late")
        }
      }
    }

    private func timings(_ body: HTTPBody, from peer: WirePeer, expects: Bool = false) async throws -> TransferTimings {
      let transport = try CurlTransport()
      var request = HTTPRequest(body.isEmpty ? .get : .post, peer.url(), body: body)
      if expects { request.options.continueTimeout = .seconds(1) }
      let response = try await transport.send(request)
      _ = try await response.body.collect()
      return try #require(response.body.timings)
    }

    @Test(arguments: [
      HTTPBody.empty, .text("x"), .bytes(Data(count: 300_000)),
      .stream(length: 3) {
        AsyncStream {
          $0.yield(Data("abc".utf8)); $0.finish()
        }
      },
    ])
    func `measures the time to the first byte of the response with any request body`(body: HTTPBody) async throws {
      let timings = try await timings(body, from: peer())
      #expect(timings.firstByte >= Self.wait && timings.requestStart < Self.wait, "\(timings)")
      #expect(timings.lastByte >= timings.firstByte && timings.lastByte - timings.firstByte < Self.wait, "\(timings)")
    }

    @Test(arguments: ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"])
    func `an interim response does not count as the first byte`(interim: String) async throws {
      for body in [HTTPBody.empty, .text("x")] {
        let timings = try await timings(body, from: peer(interim: interim), expects: !body.isEmpty)
        #expect(timings.firstByte >= Self.wait && timings.requestStart < Self.wait, "\(timings)")
      }
    }

    @Test func `an exchange without a response reports no time to the first byte`() async throws {
      let peer = try WirePeer { connection, _ in _ = connection.readRequest() }
      let request = HTTPRequest(.post, peer.url(), body: .text("x"))
      let error = await #expect(throws: TaskError.self) { try await CurlTransport().send(request) }
      #expect(error?.timings?.requestStart ?? .zero > .zero && error?.timings?.firstByte == .zero)
    }

    @Test func `the summary and the HAR show the time spent waiting for a POST's response`() async throws {
      let calls = Shared<[RecordedCall]>([])
      struct Keeper: CallRecorder {
        let calls: Shared<[RecordedCall]>
        func record(_ call: RecordedCall) { calls.withLock { $0.append(call) } }
      }
      var configuration = ServerConfiguration()
      configuration.recorders = [Keeper(calls: calls)]
      let peer = try peer()
      let server = Server(
        .none, configuration: configuration, transport: try CurlTransport(), environment: [:])
      let response = try await URLTask(peer.url(), method: .post, body: .text("x")).on(server).response()
      #expect(response.record.summary.contains("response 0.2"), "\(response.record.summary)")
      #expect(!response.record.summary.contains("body 0.2"), "\(response.record.summary)")
      #expect(await eventually { calls.withLock { $0.count } == 1 })
      let archive = HTTPArchive(calls.withLock { $0 })
      let entry = try #require(archive.entries.first)
      #expect(entry.timings.wait >= 200 && entry.timings.receive < 200, "\(entry.timings)")
    }
  }
#endif
