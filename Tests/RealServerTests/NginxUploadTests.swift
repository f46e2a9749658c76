#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Forms that nginx stores as received and werkzeug parses.
  @Suite(
    .enabled(if: Nginx.isExpected && Httpbin.isExpected, "nginx or httpbin's werkzeug is not installed"),
    .timeLimit(.minutes(3)))
  struct NginxUploadTests {
    private struct Send: ServerPOSTTask, MultipartUploadingTask {
      let uploadForm: MultipartForm
      let path = "stored"
    }

    /// A form part as parsed by werkzeug.
    private struct Field: Decodable, Equatable {
      var name: String
      var fileName: String?
      var type: String?
      var size: Int
      var sum: Int
    }

    private static let large = Data((0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 131) })

    private static func stream(_ chunks: [Data]) -> HTTPBody {
      .stream {
        AsyncStream { stream in
          for chunk in chunks { stream.yield(chunk) }
          stream.finish()
        }
      }
    }

    @Test(arguments: [true, false])
    func `nginx stores the form as sent, and werkzeug parses it as intended`(hasLength: Bool) async throws {
      try await withTemporaryFolder { folder in
        let file = folder.appendingPathComponent("photo.png")
        try Self.large.write(to: file)
        var parts: [MultipartForm.Part] = [
          .text("title", "Sun\r\nset é"), .text("title", ""), .text("a \"b\"\r\n", "--errand"),
          .file("photo", file, fileName: "ü \"x\".png"),
          .data("raw", Data("\r\n--\r\n".utf8), fileName: "l", type: "x/y"),
        ]
        if !hasLength { parts.append(.body("stream", Self.stream([Data("abc".utf8), Self.large]), fileName: "s")) }
        let form = MultipartForm(parts)
        let stored = try await store(form)
        #expect(stored == (try await bytes(of: form)))
        let body = folder.appendingPathComponent("body")
        try stored.write(to: body)
        let fields = try await read(body, form.mediaType, in: folder)
        var expected = [
          field("title", Data("Sun\r\nset é".utf8)), field("title", Data()),
          field("a \"b\"\r\n", Data("--errand".utf8)),
          field("photo", Self.large, "ü \"x\".png", "image/png"), field("raw", Data("\r\n--\r\n".utf8), "l", "x/y"),
        ]
        if !hasLength {
          expected.append(field("stream", Data("abc".utf8) + Self.large, "s", "application/octet-stream"))
        }
        #expect(fields == expected)
      }
    }

    /// Returns the bytes of a form as stored by nginx.
    private func store(_ form: MultipartForm) async throws -> Data {
      let nginx = try await Nginx(files: ["hello": Data("hello\n".utf8)])
      let response = try await Send(uploadForm: form).on(Server(Remote(nginx.url))).upload()
      let path = try #require(response.headers["X-Stored"])
      defer { withExtendedLifetime(nginx) {} }
      return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    private func bytes(of form: MultipartForm) async throws -> Data {
      let all = Shared(Data())
      try await form.body().forEachChunk { chunk in all.withLock { $0 += chunk } }
      return all.withLock { $0 }
    }

    private func field(_ name: String, _ data: Data, _ fileName: String? = nil, _ type: String? = nil) -> Field {
      Field(
        name: name.escapedForForm, fileName: fileName?.escapedForForm, type: type, size: data.count,
        sum: data.reduce(0) { $0 + Int($1) })
    }

    private func read(_ body: URL, _ type: MediaType, in folder: URL) async throws -> [Field] {
      let python = try #require(Python.interpreter(with: "werkzeug"))
      let (script, output) = (folder.appendingPathComponent("read.py"), folder.appendingPathComponent("fields"))
      try Data(Self.script.utf8).write(to: script)
      let status = await Shell.run("'\(python)' '\(script.path)' '\(body.path)' '\(type.rawValue)' > '\(output.path)'")
      try #require(status == 0)
      return try JSONDecoder().decode([Field].self, from: Data(contentsOf: output))
    }

    private func withTemporaryFolder(_ body: (URL) async throws -> Void) async throws {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-forms-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }  // leftovers are harmless
      try await body(folder)
    }

    /// werkzeug's event parser, which keeps the order of the parts.
    private static let script = """
      import json, sys
      from werkzeug.http import parse_options_header
      from werkzeug.sansio.multipart import Data, Epilogue, Field, File, MultipartDecoder

      body, kind = open(sys.argv[1], "rb").read(), sys.argv[2]
      decoder = MultipartDecoder(parse_options_header(kind)[1]["boundary"].encode(), max_form_memory_size=None)
      decoder.receive_data(body)
      decoder.receive_data(None)
      fields = []
      while not isinstance(event := decoder.next_event(), Epilogue):
          if isinstance(event, (Field, File)):
              fields.append({"name": event.name, "size": 0, "sum": 0, "type": event.headers.get("content-type"),
                             "fileName": getattr(event, "filename", None)})
          elif isinstance(event, Data):
              fields[-1]["size"] += len(event.data)
              fields[-1]["sum"] += sum(event.data)
      print(json.dumps(fields))
      """
  }

  extension String {
    /// Names as encoded in forms (HTML Standard, "multipart/form-data encoding algorithm"). Of the three escapes,
    /// werkzeug decodes only the quotation mark.
    fileprivate var escapedForForm: String {
      replacingOccurrences(of: "\r", with: "%0D").replacingOccurrences(of: "\n", with: "%0A")
    }
  }
#endif
