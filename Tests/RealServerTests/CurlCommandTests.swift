import ErrandInspection

#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Compares Errand's curl commands with curl itself.
  @Suite(.timeLimit(.minutes(3)), .enabled(if: LocalServer.isExpected("curl")))
  struct CurlCommandTests {
    private let mock: MockServer

    init() throws {
      mock = try MockServer()
      mock.route("/*", answer: .text("answer"))
    }

    /// Runs a command in /bin/sh from a file, because the size of arguments is limited.
    private func run(_ command: String) async throws -> MockRequest {
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("errand-curl-\(UUID().uuidString)")
      try Data("export NO_PROXY='*' HOME=/nonexistent\n\(command) >/dev/null 2>&1\n".utf8).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }  // leftovers are harmless
      let status = await Shell.run("exec /bin/sh '\(file.path)'")
      // Don't wait for a request if the command fails.
      try #require(status == 0, "exit status \(status) of \(command.prefix(2000))")
      return try await mock.nextRequest()
    }

    /// Returns the request as Errand sends it.
    private func send(_ request: HTTPRequest) async throws -> MockRequest {
      let response = try await CurlTransport().send(request)
      _ = try await response.body.collect()
      return try await mock.nextRequest()
    }

    /// Returns the headers in order, without the headers for framing and encodings, which differ by program.
    private func fields(_ request: MockRequest) -> [String] {
      let own: [HTTPHeaderName] = [.host, .contentLength, .transferEncoding, .acceptEncoding]
      return request.headers.filter { !own.contains($0.name) }.map { "\($0.name): \($0.value)" }
    }

    private func expectSame(_ request: HTTPRequest, _ comment: String) async throws {
      let (sent, ran) = (try await send(request), try await run(request.curlCommand(redaction: nil)))
      #expect(ran.method == sent.method && ran.target == sent.target, "\(comment)")
      #expect(fields(ran) == fields(sent), "\(comment)")
      #expect(ran.body == sent.body && ran.headers[.contentLength] == sent.headers[.contentLength], "\(comment)")
    }

    static let values = [
      "plain", "it's", "''", "a\"b", "$HOME `id` $(id) ${x}", "!history", "a\\b\\", "\\", "%s%d%%", "-H", "@file",
      "a;b|c&d>e<f",
      "tab\there", "\u{1B}[201~", "\u{7F}\u{85}\u{9B}", "\u{202E}", "grün 日本 👩‍👩‍👧", "#", "~", "*", "{a,b}[1-3]", "a=b&c=d",
      "=", "\u{1}\u{2}9",
    ]

    @Test(arguments: values) func `the curl command sends the same value as Errand`(value: String) async throws {
      let url = mock.url.appendingPathComponent("x")
      try await expectSame(
        HTTPRequest(.get, url, headers: ["X-Value": value, "X-After": "1", "X-Value": value]), value)
      let headers: HTTPHeaders = [.accept: "*/*", .contentType: "text/plain"]
      try await expectSame(HTTPRequest(.post, url, headers: headers, body: .text("\(value)\n\(value)\n\n")), value)
      try await expectSame(HTTPRequest(.put, url, body: .bytes(Data(value.utf8) + [0, 0xFF])), value)
    }

    @Test(arguments: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE", "QUERY"])
    func `the curl command sends any method with or without a body`(method: String) async throws {
      let url = mock.url.appendingPathComponent("x")
      try await expectSame(HTTPRequest(HTTPMethod(method), url), method)
      guard method != "HEAD" else { return }
      try await expectSame(HTTPRequest(HTTPMethod(method), url, body: .bytes(Data())), "\(method) without bytes")
      try await expectSame(HTTPRequest(HTTPMethod(method), url, body: .text("@text")), "\(method) with text")
    }

    @Test(
      .dropsEmptyQueries,
      arguments: ["a/../b", "a/./b", "?x=[1-3]&y={a,b}", "%7Ba%7D?q='%22%20+", "a//b?", "?$HOME&`id`"])
    func `the curl command sends the URL unchanged`(target: String) async throws {
      guard let url = URL(string: "\(mock.url.absoluteString)/\(target)") else { return }  // not a URL
      try await expectSame(HTTPRequest(.get, url), target)
    }

    @Test func `the curl command sends large bodies and file bodies completely`() async throws {
      let url = mock.url.appendingPathComponent("x")
      let text = String(repeating: "it's a line\n", count: 100_000)
      try await expectSame(HTTPRequest(.post, url, body: .text(text)), "text")
      let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
      try await expectSame(HTTPRequest(.post, url, body: .bytes(bytes)), "bytes")
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("it's \(UUID().uuidString)")
      try bytes.write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }  // leftovers are harmless
      try await expectSame(HTTPRequest(.post, url, body: .file(file)), "file")
    }

    @Test func `the curl command decompresses the response and sends empty headers`() async throws {
      var request = HTTPRequest(.get, mock.url, headers: ["X-Empty": "", "X-Blank": "  "])
      request.options.decodesBody = true
      let ran = try await run(request.curlCommand())
      #expect(ran.headers[.acceptEncoding]?.contains("gzip") == true && ran.headers["X-Empty"] == "")
    }

    @Test(arguments: [
      "-d a=1 -d 'b=2 3'", "-G -d a=1 --data-urlencode 'b=ä &'", "--data-urlencode 'a=b c/d~e*f'", "-I", "-X PURGE",
      "-H 'X-A: 1' -H 'X-B;' -H 'Accept:'", "--json '{\"a\":1}'", "-A me -e https://b.test/ -b 'c=d; e=f'",
      "-u ann:'p:w'",
      "-r 0-9", "--data-raw @plain", "--data-binary $'a\\x01\\n\\101' -H 'Content-Type:'", "-X PUT -d ''",
      "-H 'Accept: a' -H 'Accept: b'", "--data-ascii x --data-raw y",
    ]) func `a parsed command line sends the same request as curl`(options: String) async throws {
      let line = "curl -sS \(options) '\(mock.url.absoluteString)/x?y=1'"
      // dash does not support the $'…' quotes that browsers write.
      let ran = try await run(
        options.contains("$'") ? "bash -c '\(line.replacingOccurrences(of: "'", with: "'\\''"))'" : line)
      let read = try await send(CurlCommand(line).request)
      // Some curl versions write lowercase escapes.
      #expect(read.method == ran.method && read.target.lowercased() == ran.target.lowercased())
      #expect(read.body == ran.body)
      func lines(_ request: MockRequest) -> [String] {
        // Omit curl's default headers, because a task gets its defaults from its server.
        fields(request).filter { !$0.hasPrefix("User-Agent: curl") && $0 != "Accept: */*" }.sorted()
      }
      #expect(lines(read) == lines(ran))
    }
  }
#endif
