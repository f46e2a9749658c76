#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Bodies that are a thousand times larger than their compressed form.
  @Suite(
    .enabled(if: Nginx.isExpected && LocalServer.isExpected("gzip"), "nginx or gzip is not installed"),
    .timeLimit(.minutes(3)))
  struct PackedBodyTests {
    private static let size = 64 << 20

    /// Compressed zeros.
    private static let zeros = Result {
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("errand-zeros-\(UUID().uuidString).gz")
      defer { try? FileManager.default.removeItem(at: file) }  // leftovers are harmless
      let status = Shell.runAndBlock("head -c \(size) /dev/zero | gzip -9 > '\(file.path)'")
      guard status == 0 else { throw LocalServer.Failure(reason: "gzip failed with exit status \(status)") }
      return try Data(contentsOf: file)
    }

    private func start(_ change: (inout CurlTransport.Configuration) -> Void = { _ in }) async throws -> (
      Nginx, CurlTransport
    ) {
      let nginx = try await Nginx(files: ["zeros.gz": Self.zeros.get(), "zeros": Data()])
      var configuration = CurlTransport.Configuration()
      change(&configuration)
      return (nginx, try CurlTransport(configuration))
    }

    private func request(_ nginx: Nginx, isLongLived: Bool = false) -> HTTPRequest {
      var request = HTTPRequest(.get, nginx.url.appendingPathComponent("packed/zeros"))
      request.options.decodesBody = true
      request.options.isLongLived = isLongLived
      return request
    }

    // The transport buffers all compressed bytes before the reader asks, because they are less than 512 KiB.
    @Test(arguments: [false, true])
    func `a slow reader receives the complete decompressed body`(isLongLived: Bool) async throws {
      let (nginx, transport) = try await start { $0.maximumDecodingRatio = 2000 }
      let body = try await transport.send(request(nginx, isLongLived: isLongLived)).body
      var count = 0
      while let piece = try await body.next() {
        count += piece.count
        await giveWay(10)
      }
      #expect(count == Self.size)
      #expect(body.timings.map { $0.bytesDecoded == Int64(Self.size) && $0.bytesReceived < 1 << 20 } == true)
      withExtendedLifetime(nginx) {}
    }

    @Test func `the default decompression limit rejects the body for slow and fast readers`() async throws {
      let (nginx, transport) = try await start()
      for yields in [0, 100] {
        let body = try await transport.send(request(nginx)).body
        let error = await #expect(throws: TaskError.self) {
          while try await body.next() != nil { await giveWay(yields) }
        }
        #expect(error?.code == .bodyTooLarge, "\(String(describing: error))")
      }
      withExtendedLifetime(nginx) {}
    }
  }
#endif
