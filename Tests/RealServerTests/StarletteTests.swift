#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Event streams and forms, tested with widely used server libraries.
  @Suite(.enabled(if: StarletteServer.isExpected, "sse-starlette is not installed"), .timeLimit(.minutes(3)))
  struct StarletteTests {
    private let starlette: StarletteServer
    private let server: Server

    init() async throws {
      starlette = try await StarletteServer()
      server = Server(Remote(starlette.url), environment: [:])
    }

    private struct Count: ServerTask {
      let query: [String: String]
      var httpMethod = HTTPMethod.get
      let path = "events"
    }

    @Test(arguments: ["\r\n", "\n", "\r"], [HTTPMethod.get, .post])
    func `reads ten events from connections that each end after three events`(
      separator: String, method: HTTPMethod
    ) async throws {
      var events: [ServerSentEvent] = []
      for try await event in Count(query: ["sep": separator], httpMethod: method).on(server).events() {
        events.append(event)
      }
      #expect(events == (1...10).map { ServerSentEvent(name: "count", data: "{\"n\":\($0)}\nline é", id: "\($0)") })
      withExtendedLifetime(starlette) {}
    }

    private struct Send: ServerPOSTTask, MultipartUploadingTask, PayloadDownloadingTask {
      typealias DownloadPayload = [[String]]
      let uploadForm: MultipartForm
      let path = "form"
    }

    @Test func `the server receives every part of a form with files, regardless of their names`() async throws {
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("errand-\(UUID().uuidString).png")
      try Data("--\r\n--png\r\n".utf8).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }  // a leftover file is harmless
      let large = Data(repeating: 13, count: 3 << 20)
      let stream = HTTPBody.stream {
        AsyncStream { chunks in
          for _ in 0..<4 { chunks.yield(Data("abc".utf8)) }
          chunks.finish()
        }
      }
      let form = MultipartForm([
        .text("title", "Sun\r\nset é"), .text("title", ""), .file("photo", file, fileName: "ü \"x\".png"),
        .data("large", large, fileName: "l", type: "x/y"), .body("stream", stream, fileName: "s"),
      ])
      let fields = try await Send(uploadForm: form).on(server).download()
      #expect(fields.map { $0[0] } == ["title", "title", "photo", "large", "stream"])
      #expect(fields[0][1] == "Sun\r\nset é" && fields[1][1] == "")
      #expect(fields[2].dropFirst().prefix(3) == ["ü %22x%22.png", "image/png", "11"])
      #expect(fields[3].dropFirst().prefix(3) == ["l", "x/y", "\(3 << 20)"])
      #expect(fields[4].dropFirst().prefix(3) == ["s", "application/octet-stream", "12"])
      withExtendedLifetime(starlette) {}
    }

    private struct Pack: ServerPOSTTask, UploadingTask, PayloadDownloadingTask {
      typealias DownloadPayload = [String]
      let body: HTTPBody
      let path = "gunzip"
      func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { body }
    }

    private struct SayCompressed: ServerPOSTTask, GZipUploadingTask, PayloadDownloadingTask {
      typealias DownloadPayload = [String]
      let body: HTTPBody
      let path = "gunzip"
      func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { body }
    }

    @Test func `other implementations decompress uploads from memory and from a stream`() async throws {
      let data = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
      let stream = HTTPBody.stream {
        AsyncStream { chunks in
          for start in stride(from: 0, to: data.count, by: 10_000) { chunks.yield(data[start..<start + 10_000]) }
          chunks.finish()
        }
      }
      let whole = try await Pack(body: .bytes(data)).gzipped().on(server).download()
      let streamed = try await Pack(body: stream).gzipped().on(server).download()
      #expect(whole.prefix(2) == ["gzip", "1000000"] && streamed.prefix(3) == whole.prefix(3))
      #expect(Int(whole[3]).map { $0 < 100_000 } == true && streamed[3].isEmpty)
      #expect(try await SayCompressed(body: .bytes(data)).on(server).download() == whole)
      let none = try await Pack(body: .bytes(Data())).gzipped().on(server).download()
      #expect(none.prefix(2) == ["gzip", "0"])
      withExtendedLifetime(starlette) {}
    }
  }
#endif
