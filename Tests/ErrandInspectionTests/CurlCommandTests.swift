import ErrandTesting
import Foundation
import Testing

@testable import Errand
@testable import ErrandInspection

@Suite(.timeLimit(.minutes(1))) struct CurlCommandTests {
  private static let url = URL.known("https://shop.test/widgets?a=1&token=s3cret")

  // MARK: Writing

  @Test func `writes one option per line`() {
    let request = HTTPRequest(
      .post, .known("https://shop.test/a"), headers: [.accept: "*/*", .userAgent: "me", .contentType: "text/plain"],
      body: .text("it's"))
    #expect(
      request.curlCommand() == #"""
        curl 'https://shop.test/a' \
          --header 'Accept: */*' \
          --header 'User-Agent: me' \
          --header 'Content-Type: text/plain' \
          --data-raw 'it'\''s'
        """#)
  }

  @Test func `hides secrets unless redaction is off`() {
    var request = HTTPRequest(
      .post, Self.url,
      headers: [.authorization: "Bearer s3cret", "X-Signed": "s3cret", .contentType: "application/json"],
      body: .text(#"{"password":"s3cret"}"#))
    request.options.credentialHeaders = ["X-Signed"]
    let command = request.curlCommand()
    #expect(!command.contains("s3cret") && command.contains("token=<redacted>"), "\(command)")
    #expect(request.curlCommand(redaction: nil).components(separatedBy: "s3cret").count == 5)
    let compressed = HTTPRequest(.post, Self.url, body: .bytes(Data("token=s3cret\0".utf8)))
    #expect(!compressed.curlCommand().contains("s3cret") && !compressed.curlCommand().contains("13 bytes of data"))
  }

  @Test func `hides an API key`() async throws {
    let stub = StubServer(.status(.ok)) { $0.authentication = .apiKey("k3y", header: "X-Plain") }
    try await PlainTask().on(stub.server).run()
    let command = try #require(stub.requests.first).curlCommand()
    #expect(command.contains("X-Plain") && !command.contains("k3y"))
  }

  @Test func `a command with a hidden body has a comment and reads the body from standard input`() async throws {
    let bytes = HTTPBody.bytes(Data([0, 1, 2, 255]), type: .octetStream)
    let request = HTTPRequest(.post, Self.url, headers: [.contentType: "application/octet-stream"], body: bytes)
    #expect(request.curlCommand(redaction: nil).hasPrefix("printf "))
    let calls = try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      try Data("s3cret".utf8).write(to: file)
      return try await recordedCalls { server in
        for body in [bytes, .file(file), .text("s3cret")] {
          let style: RecordingStyle = body.data?.count == 6 ? [.url, .headers, .download] : .full
          try await URLTask(Self.url, method: .put, body: body).on(server).recording(style).run()
        }
      }
    }
    let exchanges = calls.compactMap(\.exchanges.first)
    #expect(exchanges.map { $0.body?.text } == [nil, nil, nil])
    for command in [request.curlCommand()] + exchanges.compactMap({ $0.curlCommand() }) {
      let lines = command.split(separator: "\n")
      #expect(lines.first == "# The body is not shown. The command reads it from standard input.", "\(command)")
      #expect(lines.dropFirst().first?.hasPrefix("curl ") == true, "\(command)")
      #expect(lines.dropFirst().dropLast().allSatisfy { $0.hasSuffix(" \\") } && lines.last == "  --data-binary @-")
      for note in exchanges.compactMap({ $0.body?.note }) { #expect(!command.contains(note), "\(command)") }
      #expect(!command.contains("--data-raw"), "\(command)")
    }
    #expect(exchanges.count == 3)
  }

  @Test func `the page includes the curl command if it does not show the entire body`() async throws {
    let calls = try await recordedCalls { server in
      try await URLTask(Self.url, method: .post, body: .bytes(Data(count: 100_000))).on(server).run()
      try await URLTask(Self.url, method: .post, body: .text("s3cret")).on(server).recording([.url]).run()
      try await URLTask(Self.url, method: .post, body: .text("shown")).on(server).run()
    }
    let blocks = calls.map { pageBlock(of: $0, file: "").block }
    #expect(blocks.map { $0.contains("--data-binary @-") } == [true, true, false], "\(blocks)")
  }

  @Test func `writes control characters in octal`() {
    let request = HTTPRequest(.get, .known("https://shop.test/"), headers: ["X-Odd": "a\u{1B}[201~b\u{202E}c"])
    let command = request.curlCommand()
    #expect(command.unicodeScalars.allSatisfy { $0.isASCII && ($0.value >= 0x20 || $0 == "\n") }, "\(command)")
    #expect(command.contains(#"--header "$(printf 'X\055Odd: a\033[201~b\342\200\256c')""#), "\(command)")
  }

  @Test func `a recorded request has a curl command, but a hidden request does not`() async throws {
    let calls = try await recordedCalls(.widget) { server in
      _ = try await AddWidget().on(server).header("X-Api-Key", "s3cret").download()
      _ = try await AddWidget().on(server).recording(.hidden).download()
    }
    let commands = calls.map { $0.exchanges.first?.curlCommand() }
    let command = try #require(commands[0])
    #expect(command.hasPrefix("curl 'https://shop.test/widgets'") && command.contains("'X-Api-Key: <redacted>'"))
    #expect(command.contains("--data-raw '{") && command.contains(#""name":"Sprocket""#), "\(command)")
    #expect(commands[1] == nil && calls.map { $0.curlCommand() } == commands)
  }

  // MARK: Reading

  private func request(_ line: String) throws -> HTTPRequest { try CurlCommand(line).request }

  @Test func `parses a command copied from a browser`() throws {
    let command = try CurlCommand(
      #"""
      curl 'https://shop.test/widgets?x=%5B1%5D' \
        -X 'PUT' \
        -H 'accept: application/json' -H 'x-empty;' -H 'Accept-Language: de' \
        -b 'a=1; b=2' \
        --data-raw $'{"name":"it\'s\\n"}' \
        --compressed --insecureX
      """#.replacingOccurrences(of: " --insecureX", with: " -sSL -o page.html"))
    let request = command.request
    #expect(request.method == .put && request.url.absoluteString == "https://shop.test/widgets?x=%5B1%5D")
    #expect(
      request.headers == [
        "Accept": "application/json", "X-Empty": "", "Accept-Language": "de", "Cookie": "a=1; b=2",
        "Content-Type": "application/x-www-form-urlencoded",
      ])
    #expect(request.body.data == Data(#"{"name":"it's\n"}"#.utf8) && request.options.decodesBody)
    #expect(command.followsRedirects && command.ignored == ["-s", "-S", "-o page.html"])
  }

  @Test(arguments: [
    ("curl shop.test", "GET http://shop.test", ""), ("$ curl -I https://a.test/", "HEAD https://a.test/", ""),
    ("/usr/bin/curl -XDELETE https://a.test/", "DELETE https://a.test/", ""),
    ("curl https://a.test/ -d a=1 -d b=2", "POST https://a.test/", "a=1&b=2"),
    (
      "curl -G https://a.test/?x=1#y -d a=1 --data-urlencode 'q=a b&c'", "GET https://a.test/?x=1&a=1&q=a+b%26c#y", ""
    ),
    ("curl --json '{}' https://a.test/", "POST https://a.test/", "{}"),
    ("curl --url https://a.test/ --data-urlencode '=a b' --data-urlencode ä", "POST https://a.test/", "a+b&%C3%A4"),
    ("printf 'a\\000' | curl --data-binary @- https://a.test/", "POST https://a.test/", "a\0"),
    ("curl -- https://a.test/", "GET https://a.test/", ""),
  ]) func `applies the options of a command to its request`(line: String, expected: String, body: String) throws {
    let request = try request(line.replacingOccurrences(of: "?x=1#y", with: "'?x=1#y'"))
    #expect("\(request.method) \(request.url.absoluteString)" == expected)
    #expect(request.body.data ?? Data() == Data(body.utf8))
  }

  @Test(arguments: [
    ("-u me:pw -H 'Authorization: Bearer t'", "Authorization", "Bearer t"),
    ("-H 'User-Agent: two' -A one", "User-Agent", "two"), ("-b a=1 -H 'Cookie: b=2'", "Cookie", "b=2"),
    ("-H 'User-Agent:' -A one", "User-Agent", nil),
  ]) func `a header line overrides an option, regardless of their order`(
    options: String, name: String, value: String?
  ) throws {
    let headers = try request("curl \(options) https://a.test/").headers
    #expect(headers.filter { $0.name == HTTPHeaderName(name) }.map(\.value) == [value].compactMap { $0 })
  }

  @Test func `an upload to a folder appends the file name to the URL and sets no type`() throws {
    let put = try request("curl -T 'dir/a b.txt' https://a.test/dir/")
    #expect(put.url.absoluteString == "https://a.test/dir/a%20b.txt" && put.method == .put && put.headers.isEmpty)
  }

  @Test(arguments: [
    "--oauth2-bearer=SECRET", "--user=me:SECRET", "-F 'x=SECRET;y=SECRET'", "-F 'x=@f;y=SECRET'", "-I -d SECRET",
  ])
  func `errors do not contain the values of options`(options: String) {
    do {
      _ = try request("curl \(options) https://a.test/")
      Issue.record("\(options) was accepted")
    } catch {
      #expect(!"\(error)".contains("SECRET"))
    }
  }

  @Test func `converts the user, user agent, referer and range options to header fields`() throws {
    let line = "curl -u ann:a:b -A me -e https://b.test/ -r 0-9 -m 2.5 --connect-timeout 1 https://a.test/"
    let request = try request(line)
    #expect(
      request.headers == [
        "Authorization": "Basic YW5uOmE6Yg==", "User-Agent": "me", "Referer": "https://b.test/", "Range": "bytes=0-9",
      ])
    #expect(request.options.timeouts.attempt == .seconds(2.5) && request.options.timeouts.connect == .seconds(1))
    let inURL = try self.request("curl https://ann:a%3Ab@a.test/x")
    #expect(inURL.url.absoluteString == "https://a.test/x")
    #expect(inURL.headers == ["Authorization": "Basic YW5uOmE6Yg=="])
  }

  @Test func `converts a form to a multipart body`() async throws {
    let request = try request("curl https://a.test/ -F a=1 -F 'b={};type=application/json' --form-string 'c=@x;type=y'")
    #expect(
      request.method == .post && request.headers[.contentType]?.hasPrefix("multipart/form-data; boundary=") == true)
    let text = Shared("")
    try await request.body.forEachChunk { chunk in text.withLock { $0 += String(decoding: chunk, as: UTF8.self) } }
    let body = text.withLock { $0 }
    #expect(body.contains("name=\"a\"\r\n\r\n1\r\n"), "\(body)")
    #expect(body.contains("name=\"b\"\r\nContent-Type: application/json\r\n\r\n{}\r\n"), "\(body)")
    #expect(body.contains("name=\"c\"\r\n\r\n@x;type=y\r\n"), "\(body)")
  }

  @Test(arguments: [
    "a=b;c", #"a="b;c""#, "a=x;filename=f.txt;type=text/html", "a=x;type=text/html;filename=y", "a=x;headers=X: y",
    "a=x;type=text/html;encoder=base64", "a=x;type=text/html;type=text/plain", "a=x;type=text/plain; filename=y",
    "a=x;type=text/plain;FILENAME=y", "a= x ", "a=x ;type=text/plain", "a=x;type=bad",
    "a=x;type=text/plain ;headers=X: y",
  ]) func `rejects form text with characters that curl interprets`(part: String) throws {
    #expect(throws: TaskError.self) { try request("curl https://a.test/ -F '\(part)'") }
    _ = try request("curl https://a.test/ --form-string '\(part)'")
  }

  @Test func `the last user name overrides the URL's, and a token overrides both`() throws {
    func signIn(_ options: String, _ url: String = "https://a.test/") throws -> String? {
      try request("curl \(options) \(url)").headers[.authorization]
    }
    #expect(try signIn("-u a:b -u c:d") == "Basic Yzpk")
    #expect(try signIn("-u c:d", "https://a:b@a.test/") == "Basic Yzpk")
    #expect(try signIn("--oauth2-bearer t -u a:b") == "Bearer t")
    #expect(try signIn("-u a:b --oauth2-bearer t") == "Bearer t")
  }

  @Test(arguments: [
    ("curl -k https://a.test/", "'-k' is not supported: certificates"),
    ("curl --frob https://a.test/", "'--frob' is unknown"),
    ("curl -x p:1 https://a.test/", "'-x' is not supported"), ("curl", "no URL"),
    ("wget https://a.test/", "begin with 'curl'"),
    ("curl https://a.test/ https://b.test/", "more than one URL"), ("curl -d @f https://a.test/", "--data-binary"),
    ("curl -b jar.txt https://a.test/", "jar.txt"), ("curl -H 'X y' https://a.test/", "'X' has no colon"),
    ("curl -H", "'-H' has no value"),
    ("curl ftp://a.test/", "'ftp'"), ("curl https://a.test/ -d a -F b=c", "more than one body"),
    ("curl --data-binary @- https://a.test/", "standard input"),
    ("curl -X 'A B' https://a.test/", "not a valid HTTP method name"),
    ("curl -m x https://a.test/", "number of seconds"), ("curl -m 0 https://a.test/", "number of seconds"),
    ("curl -:", "'-:' is not supported"),
    ("curl http://", "not a URL"), ("curl --proto-default https a.test", "add the scheme to the URL"),
    ("curl 'https://a.test/{a,b}'", "'--globoff'"), ("curl 'https://a.test/[1-3]?x'", "'--globoff'"),
    ("curl 'https://a.test/?f[s]=x'", "'--globoff'"), ("curl 'https://a.test/{}'", "'--globoff'"),
    ("curl 'https://a.test/}'", "'--globoff'"), ("curl 'https://a.test/{a'", "'--globoff'"),
    ("curl -H 'X: a\nb' https://a.test/", "line break"), ("curl https://a.test/ ; rm x", "';'"),
  ]) func `rejects an unsupported command with a specific reason`(line: String, reason: String) throws {
    let error = #expect(throws: TaskError.self) { try CurlCommand(line) }
    #expect(error?.code == .badRequest && error?.wasNotSent == true)
    #expect(
      error?.reason.hasPrefix("can't read the curl command: ") == true && error?.reason.contains(reason) == true,
      "\(line): \(error?.reason ?? "")")
  }

  @Test(arguments: [
    ("curl https://a.test/a/./b/../c", "https://a.test/a/c"),
    ("curl --path-as-is https://a.test/a/../c", "https://a.test/a/../c"),
    ("curl --globoff 'https://[::1]/a?b=c'", "https://[::1]/a?b=c"), ("curl 'https://[::1]/a'", "https://[::1]/a"),
    ("curl https://a.test/a?b=../c", "https://a.test/a?b=../c"),
    ("curl -G https://a.test/c -d 'created[gte]=1'", "https://a.test/c?created%5Bgte%5D=1"),
    ("curl -G https://a.test/c -d 'f={x}'", "https://a.test/c?f=%7Bx%7D"),
    ("curl 'https://a.test/?expand[]=x'", "https://a.test/?expand%5B%5D=x"),
    (#"curl 'https://a.test/?f\[s\]=x\{y\}'"#, "https://a.test/?f%5Bs%5D=x%7By%7D"),
    ("curl 'https://a.test/{s}/x'", "https://a.test/s/x"),
    ("curl --globoff 'https://a.test/?f[s]={x}'", "https://a.test/?f%5Bs%5D=%7Bx%7D"),
  ]) func `requests the same URL as curl`(line: String, url: String) throws {
    #expect(try request(line).url.absoluteString == url)
  }

  @Test func `does not send a header that is set to an empty value`() throws {
    let stated = try request("curl -A mine -e there https://a.test/")
    #expect(stated.headers[.userAgent] == "mine" && stated.headers["Referer"] == "there")
    let empty = try request("curl -A '' -e '' https://a.test/")
    #expect(!empty.headers.contains("Referer") && empty.headers[.userAgent] == nil)
  }

  @Test func `runs a command as a task`() async throws {
    let stub = StubServer(.status(302, [.location: "/b"]), .json("{}"))
    let task = try CurlCommand("curl https://a.test/a -H 'X-Mine: 1' -d b=c -m 3").task
    let response = try await task.accepting(.only(302)).on(stub.server).run()
    #expect(response.status == 302, "curl does not follow redirects by default")
    let sent = try #require(stub.requests.first)
    #expect(sent.method == .post && sent.headers["X-Mine"] == "1" && sent.body.data == Data("b=c".utf8))
    #expect(sent.options.timeouts.attempt == .seconds(3))
    _ = try await CurlCommand("curl -L https://a.test/a").task.on(stub.server).run()
    #expect(stub.requests.count == 2)
  }

  // MARK: Round trip

  @Test func `parses the command of a request back into the same request`() throws {
    var random = SeededGenerator(seed: 15)
    let urls = [
      "https://shop.test/", "http://127.0.0.1:8080/a/../b?x=[1]&y='%22#f", "https://shop.test/%7B1,2%7D?q=a%20b;c",
    ]
    let methods: [HTTPMethod] = [.get, .post, .put, .delete, .head, "PURGE", "M-SEARCH"]
    let fields: [HTTPHeaderName] = [.accept, .userAgent, .contentType, "X-A", "X-B", .cookie, .expect]
    for _ in 0..<1500 {
      func text(_ count: Int) -> String {
        let scalars = (0..<Int.random(in: 0..<count, using: &random)).compactMap { _ -> Unicode.Scalar? in
          let value = UInt32.random(in: 1..<0x2100, using: &random)
          return value == 0x0A || value == 0x0D
            ? "'" : Unicode.Scalar(Bool.random(using: &random) ? value : value % 0x7F + 1)
        }
        return String(String.UnicodeScalarView(scalars)).filter { !"\n\r\r\n".contains($0) }
      }
      let method = methods.randomElement(using: &random) ?? .get
      var request = HTTPRequest(method, .known(urls.randomElement(using: &random) ?? ""))
      for _ in 0..<Int.random(in: 0..<4, using: &random) {
        let value = text(12).trimmingCharacters(in: .whitespaces)
        request.headers.add(value, for: fields.randomElement(using: &random) ?? "X")
      }
      if method != .head, Bool.random(using: &random) {
        let bytes = Data((0..<Int.random(in: 0..<30, using: &random)).map { _ in .random(in: 0...255, using: &random) })
        request.body = .bytes(Bool.random(using: &random) ? bytes : Data(text(30).utf8))
      }
      request.options.decodesBody = Bool.random(using: &random)
      let command = request.curlCommand(redaction: nil)
      let read = try CurlCommand(command).request
      #expect(read.method == request.method && read.url == request.url, "\(command)")
      #expect(read.headers == request.headers, "\(command)")
      let isContent = !request.body.isEmpty || [.post, .put].contains(method)
      #expect(read.body.data == (isContent ? request.body.data ?? Data() : nil), "\(command)")
    }
  }
}
