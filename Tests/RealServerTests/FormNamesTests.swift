#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Reads form names written by other implementations.
  @Suite(.timeLimit(.minutes(3)))
  struct FormNamesTests {
    private static let names = ["a", "a b", "é", "a\"b", "\"", "a\"; b", "a\"; filename=\"b", "a\\\"b", "100%", "a;b"]
    /// Names whose backslashes don't precede a quotation mark, because the meaning of two backslashes is ambiguous.
    private static let backslashes = ["a\\b", "\\", "C:\\x", "a\\"]

    private func read(_ form: Data, _ type: String) async throws -> [String?] {
      let response = HTTPResponse(
        url: try #require(URL(string: "https://a.test")), headers: [.contentType: type], body: HTTPResponseBody(form))
      var names: [String?] = []
      for try await part in try response.parts() { names.append(part.disposition?.name) }
      return names
    }

    @Test(.enabled(if: LocalServer.isExpected("curl")), arguments: ["", "--form-escape"])
    func `parses the names in forms written by curl`(option: String) async throws {
      let mock = try MockServer()
      mock.route("/*", answer: .text("answer"))
      // curl splits a field at its first equals sign.
      let names = (Self.names + (option.isEmpty ? Self.backslashes : [])).filter { !$0.contains("=") }
      let fields = names.map { "-F '\($0)=1'" }.joined(separator: " ")
      try #require(await Shell.run("NO_PROXY='*' curl -s -o /dev/null \(option) \(fields) '\(mock.url)'") == 0)
      let request = try await mock.nextRequest()
      #expect(try await read(request.body, request.headers[.contentType] ?? "") == names)
    }

    @Test(.enabled(if: Python.interpreter(with: "email") != nil))
    func `parses the names in forms written by Python's email package`() async throws {
      let python = try #require(Python.interpreter(with: "email"))
      let output = FileManager.default.temporaryDirectory.appendingPathComponent("errand-form-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: output) }  // leftovers are harmless
      let names = Self.names.filter { $0.allSatisfy(\.isASCII) }
      let list = String(decoding: try JSONEncoder().encode(names), as: UTF8.self)
      let script = """
        import json, sys
        from email.mime.multipart import MIMEMultipart
        from email.mime.nonmultipart import MIMENonMultipart
        form = MIMEMultipart("form-data", boundary="b")
        for name in json.loads(sys.argv[1]):
            part = MIMENonMultipart("text", "plain")
            part.set_payload("1")
            part.add_header("Content-Disposition", "form-data", name=name)
            form.attach(part)
        sys.stdout.write(form.as_string().split("\\n\\n", 1)[1])
        """
      try #require(await Shell.run("'\(python)' -c '\(script)' '\(list)' > '\(output.path)'") == 0)
      #expect(try await read(Data(contentsOf: output), "multipart/form-data; boundary=b") == names)
    }
  }
#endif
