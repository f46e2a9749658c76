#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Compressed bodies on real sockets: complete, truncated and too large.
  @Suite(.balancedEvents, .timeLimit(.minutes(1)))
  struct PackedBodyTests {
    /// How a response marks the end of its body.
    enum Framing: CaseIterable {
      case length
      case chunks
      case close

      /// Returns an answer with this body.
      func answer(_ body: Data, _ coding: String) -> MockAnswer {
        var head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\n"
        switch self {
        case .length: head += "Content-Length: \(body.count)\r\n\r\n"
        case .chunks: head += "Transfer-Encoding: chunked\r\n\r\n"
        case .close: head += "Connection: close\r\n\r\n"
        }
        guard self == .chunks else { return .raw(Data(head.utf8) + body) }
        let chunk = body.isEmpty ? Data() : Data("\(String(body.count, radix: 16))\r\n".utf8) + body + Data("\r\n".utf8)
        return .raw(Data(head.utf8) + chunk + Data("0\r\n\r\n".utf8))
      }
    }

    private static let samples: [(coding: String, compressed: Data)] = [
      ("gzip", CompressedSample.gzip), ("deflate", CompressedSample.zlib), ("deflate", CompressedSample.deflate),
      ("br", CompressedSample.brotli), ("zstd", CompressedSample.zstd),
    ]

    /// Returns the samples that this machine can decompress.
    private func samples() async throws -> [(coding: String, compressed: Data)] {
      let accepted = try await acceptedCodings()
      return Self.samples.filter { accepted.contains($0.coding) }
    }

    /// Returns the `Accept-Encoding` values that a task sends.
    private func acceptedCodings(
      _ task: some ServerTask = PlainTask(), configure: (inout ServerConfiguration) -> Void = { _ in }
    ) async throws -> [String] {
      let shop = try Shop(configure: configure)
      shop.mock.enqueue(.text("plain"))
      _ = try await task.on(shop.server).downloadData()
      let field = shop.mock.requests.first?.headers[.acceptEncoding] ?? ""
      return field.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    private func fetch(_ shop: Shop, _ answer: MockAnswer) async throws -> Data {
      shop.mock.enqueue(answer)
      return try await PlainTask().on(shop.server).retry(.never).downloadData()
    }

    @Test(arguments: Framing.allCases)
    func `decompresses a body with any framing`(framing: Framing) async throws {
      let shop = try Shop()
      for (coding, compressed) in try await samples() {
        #expect(try await fetch(shop, framing.answer(compressed, coding)) == CompressedSample.text, "\(coding)")
      }
    }

    @Test(arguments: Framing.allCases)
    func `a truncated compressed body throws .truncatedBody with any framing`(framing: Framing) async throws {
      let shop = try Shop()
      for (coding, compressed) in try await samples() {
        for count in [1, 9, compressed.count / 2, compressed.count - 8, compressed.count - 4, compressed.count - 1] {
          let error = await #expect(throws: TaskError.self) {
            try await fetch(shop, framing.answer(compressed.prefix(count), coding))
          }
          #expect(error?.code == .truncatedBody, "\(coding) after \(count) bytes: \(String(describing: error))")
        }
      }
    }

    @Test
    func `an empty compressed body is truncated only if the end of the connection ends the body`()
      async throws
    {
      let shop = try Shop()
      #expect(try await fetch(shop, Framing.length.answer(Data(), "gzip")).isEmpty)
      #expect(try await fetch(shop, Framing.chunks.answer(Data(), "gzip")).isEmpty)
      let error = await #expect(throws: TaskError.self) { try await fetch(shop, Framing.close.answer(Data(), "gzip")) }
      #expect(error?.code == .truncatedBody)
    }

    @Test func `HEAD and 204 responses have no body to decompress`() async throws {
      let shop = try Shop()
      let head = Data("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 233\r\n\r\n".utf8)
      shop.mock.enqueue(.raw(head))
      #expect(try await PlainTask().on(shop.server).head().status == .ok)
      shop.mock.enqueue(.raw(Data("HTTP/1.1 204 No Content\r\nContent-Encoding: gzip\r\n\r\n".utf8)))
      #expect(try await PlainTask().on(shop.server).run().status == .noContent)
    }

    @Test(arguments: [
      CompressedSample.gzip.prefix(100), CompressedSample.gzip.dropLast(),
      CompressedSample.gzip + Data("and more".utf8),
      CompressedSample.gzip.prefix(200) + Data(repeating: 0xAA, count: 33),
    ])
    func `a truncated or corrupted body does not replace a file`(compressed: Data) async throws {
      try await withFolder { folder in
        let shop = try Shop()
        let file = folder.appendingPathComponent("file")
        try Data("old".utf8).write(to: file)
        shop.mock.enqueue(Framing.close.answer(compressed, "gzip"))
        await #expect(throws: TaskError.self) {
          try await PlainTask().on(shop.server).retry(.never).download(to: file)
        }
        #expect(try Data(contentsOf: file) == Data("old".utf8))
        #expect(try files(in: folder) == ["file"])
      }
    }

    @Test func `a stream of a truncated body throws .truncatedBody`() async throws {
      let shop = try Shop()
      shop.mock.enqueue(Framing.close.answer(CompressedSample.gzip.dropLast(4), "gzip"))
      let body = try await PlainTask().on(shop.server).stream().body
      let error = await #expect(throws: TaskError.self) { while try await body.next() != nil {} }
      #expect(error?.code == .truncatedBody)
    }

    @Test func `requests a range without compression and returns the range as received`() async throws {
      #expect(try await acceptedCodings(PlainTask().header(.range, "bytes=10-")) == ["identity"])
      let transport = try CurlTransport()
      let server = try MockServer()
      server.enqueue(.data(CompressedSample.gzip.dropFirst(10), status: 206).header(.contentEncoding, "gzip"))
      var request = HTTPRequest(.get, server.url, headers: ["Range": "bytes=10-"])
      request.options.decodesBody = true
      let body = try await transport.send(request).body
      #expect(try await body.collect() == CompressedSample.gzip.dropFirst(10))
    }

    @Test func `does not request or decompress compressed bodies if the option is off`() async throws {
      #expect(try await acceptedCodings { $0.enableGZipDownloads = false }.isEmpty)
      let shop = try Shop { $0.enableGZipDownloads = false }
      #expect(try await fetch(shop, Framing.length.answer(CompressedSample.gzip, "gzip")) == CompressedSample.gzip)
    }

    @Test func `a task that sets Accept-Encoding receives the body as sent`() async throws {
      let shop = try Shop()
      for name in ["gzip", "identity"] {
        shop.mock.enqueue(Framing.length.answer(CompressedSample.gzip, "gzip"))
        let task = PlainTask().on(shop.server).header(.acceptEncoding, name)
        #expect(try await task.downloadData() == CompressedSample.gzip)
        #expect(shop.mock.requests.last?.headers.values(for: .acceptEncoding) == [name])
      }
    }

    @Test func `returns a body with an unknown encoding as received`() async throws {
      let shop = try Shop()
      for coding in ["aes128gcm", "gzip, compress", "utf-8", "identity"] {
        #expect(try await fetch(shop, Framing.length.answer(CompressedSample.gzip, coding)) == CompressedSample.gzip)
      }
    }

    @Test func `decompresses an error body and reports the status even if the body is corrupted`()
      async throws
    {
      let shop = try Shop()
      for (compressed, text) in [(CompressedSample.gzip, CompressedSample.text), (CompressedSample.text, Data())] {
        let answer = MockAnswer.data(compressed, status: 404).header(.contentEncoding, "gzip")
        let error = await #expect(throws: TaskError.self) { try await fetch(shop, answer) }
        #expect(error?.code == .badStatus && error?.body == text)
      }
    }

    @Test func `rejects a decompression bomb early`() async throws {
      let shop = try Shop()
      var bomb = Data()
      for _ in 0..<130 { bomb += CompressedSample.zeros }
      let error = await #expect(throws: TaskError.self) { try await fetch(shop, Framing.length.answer(bomb, "gzip")) }
      #expect(error?.code == .bodyTooLarge && error?.reason.contains("maximumDecodingRatio") == true)
    }

    @Test(arguments: Framing.allCases)
    func `accepts a corrupted end only with lenientDecompression, but always ignores trailing zeros`(
      framing: Framing
    ) async throws {
      let zeros = CompressedSample.gzip + Data(count: 512)
      let damaged = [CompressedSample.gzip.dropLast(8), CompressedSample.gzip + Data("junk".utf8)]
      for isLenient in [false, true] {
        var configuration = CurlTransport.Configuration()
        configuration.lenientDecompression = isLenient
        let mock = try MockServer()
        let server = Server(Remote(mock.url), transport: try CurlTransport(configuration), environment: [:])
        let task = PlainTask().on(server).retry(.never)
        mock.enqueue(framing.answer(zeros, "gzip"))
        #expect(try await task.downloadData() == CompressedSample.text)
        for body in damaged {
          mock.enqueue(framing.answer(body, "gzip"))
          if isLenient {
            #expect(try await task.downloadData() == CompressedSample.text)
          } else {
            let error = await #expect(throws: TaskError.self) { try await task.downloadData() }
            #expect(error?.reason.contains("lenientDecompression") == true)
          }
        }
      }
    }

    @Test func `applies maximumDecodedSize to bodies in memory, files and streams`() async throws {
      let whole = Int64(CompressedSample.text.count)
      for (limit, isRefused) in [(whole - 1, true), (whole, false)] {
        let mock = try MockServer()
        mock.route("/*", answer: Framing.length.answer(CompressedSample.gzip, "gzip"))
        var configuration = CurlTransport.Configuration()
        configuration.maximumDecodedSize = limit
        let server = Server(
          Remote(mock.url), transport: try CurlTransport(configuration), environment: [:])
        let task = PlainTask().on(server)
        try await withFolder { (folder) async throws in
          let verbs: [() async throws -> Data] = [
            { try await task.downloadData() },
            { try await task.stream().body.collect() },
            {
              let file = folder.appendingPathComponent("file")
              try await task.download(to: file)
              return try Data(contentsOf: file)
            },
          ]
          for verb in verbs {
            guard isRefused else {
              let body = try await verb()
              #expect(body == CompressedSample.text)
              continue
            }
            let error = await #expect(throws: TaskError.self) { try await verb() }
            #expect(error?.code == .bodyTooLarge && error?.reason.contains("maximumDecodedSize") == true)
          }
          let left = try files(in: folder)
          #expect(left == (isRefused ? [] : ["file"]))
        }
      }
    }

    @Test(arguments: [
      ("gzip", "libz.so.1"), ("deflate", "libz.so.1"), ("br", "libbrotlidec.so.1"), ("zstd", "libzstd.so.1"),
    ])
    func `accepts exactly the encodings that this machine can decompress`(coding: String, library: String)
      async throws
    {
      let isThere = dlopen(library, RTLD_NOW) != nil
      #expect(try await acceptedCodings().contains(coding) == isThere)
    }

    @Test func `applies maximumBodySize to a body in memory`() async throws {
      #expect(ServerConfiguration().maximumBodySize == 256 << 20)
      let shop = try Shop { $0.maximumBodySize = 1 << 20 }
      let error = await #expect(throws: TaskError.self) {
        try await fetch(shop, Framing.length.answer(CompressedSample.zeros, "gzip"))
      }
      #expect(error?.code == .bodyTooLarge && error?.reason.contains("maximumBodySize") == true)
    }

    @Test func `a slow reader applies backpressure to a compressed body`() async throws {
      let server = try MockServer()
      var configuration = CurlTransport.Configuration()
      configuration.maximumDecodingRatio = 2000
      let transport = try CurlTransport(configuration)
      server.enqueue(.endless(chunk: CompressedSample.zeros).header(.contentEncoding, "gzip"))
      server.route("/tick", answer: .status(204))
      var request = HTTPRequest(.get, server.url)
      request.options.decodesBody = true
      let body = try await transport.send(request).body
      #expect(try await body.next()?.count == 64 << 10)
      // Other exchanges serve as a clock. Without backpressure, the server would send hundreds of megabytes.
      for _ in 0..<500 {
        _ = try await transport.send(HTTPRequest(.get, server.url.appendingPathComponent("tick"))).body.collect()
      }
      #expect(server.bytesSent < 16 << 20, "the kernel's buffers and the transport's 768 KiB don't hold more")
      body.cancel()
    }
  }
#endif
