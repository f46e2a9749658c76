import ErrandInspection

#if os(Linux)
  import ErrandTesting
  import Foundation
  import Testing

  @testable import Errand

  /// A headless browser.
  private enum Browser {
    static let path = LocalServer.path(of: "chromium") ?? LocalServer.path(of: "chromium-browser")
    static let isExpected = path != nil || ProcessInfo.processInfo.environment["CI"] == "true"

    /// Returns the HTML of a page after its script has run.
    static func document(_ page: URL, filter: String = "", width: Int = 1300) async throws -> String {
      let browser = try #require(path, "chromium is not installed")
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-browser-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }  // leftovers are harmless
      let address = page.absoluteString + (filter.isEmpty ? "" : "#\(filter)")
      let status = await Shell.run(
        """
        HOME='\(folder.path)' timeout 60 '\(browser)' --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir='\(folder.path)/profile' --window-size=\(width),800 --virtual-time-budget=10000 \
        --dump-dom '\(address)' > '\(folder.path)/out.html' 2> '\(folder.path)/errors.txt'
        """)
      let errors = (try? String(contentsOf: folder.appendingPathComponent("errors.txt"), encoding: .utf8)) ?? ""
      try #require(status == 0, "\(errors)")
      return try String(contentsOf: folder.appendingPathComponent("out.html"), encoding: .utf8)
    }
  }

  /// The log page in Chromium, which takes a second or two for each page.
  @Suite(.timeLimit(.minutes(3)), .enabled(if: Browser.isExpected), .serialized)
  struct PageInBrowserTests {
    /// Runs `body` with the log page of the calls that `run` makes.
    private func withLog(
      _ run: (Server) async throws -> Void, _ body: (HTTPLog, [RecordedCall], MockServer) async throws -> Void
    ) async throws {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-page-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }  // leftovers are harmless
      let mock = try MockServer()
      mock.route("/widgets/:id", answer: .json(#"{"id":7,"name":"Sprocket"}"#))
      mock.route("/missing", answer: .status(404))
      let (log, calls) = (try HTTPLog(in: folder), RecordedCalls())
      var configuration = ServerConfiguration()
      configuration.recorders = [log, calls]
      try await run(Server(Remote(mock.url), configuration: configuration, environment: [:]))
      await log.finish()
      try await body(log, calls.calls, mock)
    }

    private static func get(_ path: String, on server: Server) async throws {
      try await Endpoint<Void, Void>.request(.get, path).on(server).retry(.never).run()
    }

    private func rows(_ document: String) -> Int { document.components(separatedBy: "class=\"row\"").count - 1 }

    @Test func `shows the calls, a time axis and the details of a single call`() async throws {
      try await withLog { server in
        for id in 7...8 { try await Self.get("widgets/\(id)", on: server) }
        _ = try? await Self.get("missing", on: server)  // a failed call, which the page also shows
      } _: { log, calls, mock in
        #expect(calls.count == 3)
        let document = try await Browser.document(log.page)
        #expect(rows(document) == 3 && document.contains("3 of 3 calls, 1 failed"))
        for text in [
          "/widgets/7", "/widgets/8", "/missing", ">404<", "class=\"wait\"", ">0 ms</b>", mock.url.originText,
        ] {
          #expect(document.contains(text), "\(text)")
        }
        let one = try await Browser.document(log.page, filter: "status:4")
        #expect(rows(one) == 1 && one.contains("1 of 3 calls, 1 failed"))
        for text in [
          "Flight record", "Copy as cURL", "failed with 404", "there is nothing at that URL", "href=\"0003.",
        ] {
          #expect(one.contains(text), "\(text)")
        }
      }
    }

    @Test func `shows its calls even if the browser denies access to storage`() async throws {
      try await withLog { server in
        try await Self.get("widgets/7", on: server)
      } _: { log, _, _ in
        // Show the log in a page without an origin, in which accessing storage throws.
        let address = "data:text/html;base64,\(try Data(contentsOf: log.page).base64EncodedString())"
        let document = try await Browser.document(try #require(URL(string: address)))
        #expect(rows(document) == 1 && document.contains("1 of 1 calls"))
      }
    }

    /// Returns a copy of a page that runs a script and presses keys.
    private func pressing(_ keys: [String], on page: URL, first script: String = "") throws -> URL {
      let list = keys.map { "'\($0)'" }.joined(separator: ",")
      let actor = """
        <script>addEventListener("load", () => {
          \(script);
          for (const key of [\(list)]) {
            const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
            (document.activeElement || document.body).dispatchEvent(event);
          }
        });</script>
        """
      let copy = page.deletingLastPathComponent().appendingPathComponent("pressed-\(UUID().uuidString).html")
      let html = try String(contentsOf: page, encoding: .utf8)
        .replacing(/<meta http-equiv="Content-Security-Policy"[^>]*>/, with: "")
      try (html + actor).write(to: copy, atomically: true, encoding: .utf8)
      return copy
    }

    @Test func `keys select and deselect calls and move the focus to the filter and back`() async throws {
      try await withLog { server in
        for id in 7...9 { try await Self.get("widgets/\(id)", on: server) }
      } _: { log, _, _ in
        for (keys, call) in [
          ([], "none"), (["ArrowDown"], "7"), (["j", "j", "k"], "7"), (["End"], "9"), (["End", "Home"], "7"),
          (["End", "Escape"], "none"), (["/", "j"], "none"), (["/", "Escape", "j", "j"], "8"),
        ] as [([String], String)] {
          let document = try await Browser.document(pressing(keys, on: log.page))
          let match = document.firstMatch(of: /<h2[^>]*>GET [^<]*\/widgets\/(\d)/)
          #expect(match.map { String($0.1) } ?? "none" == call, "\(keys)")
        }
      }
    }

    @Test func `typing a filter updates the filter in the URL`() async throws {
      try await withLog { server in
        for id in 7...9 { try await Self.get("widgets/\(id)", on: server) }
      } _: { log, _, _ in
        let type = """
          const filter = document.getElementById("filter");
          filter.value = "widgets/8";
          filter.dispatchEvent(new Event("input"));
          document.documentElement.dataset.place = location.hash
          """
        let document = try await Browser.document(pressing([], on: log.page, first: type), filter: "nothing")
        #expect(rows(document) == 1 && document.contains("1 of 3 calls"))
        #expect(document.contains("data-place=\"#widgets%2F8\""))
      }
    }

    @Test func `a saved page links to the text files next to it`() async throws {
      try await withLog { server in
        try await Self.get("widgets/7", on: server)
      } _: { log, _, _ in
        let file = log.folder.appendingPathComponent("away/all calls.html")
        let texts = try log.save(to: file)
        #expect(try FileManager.default.contentsOfDirectory(atPath: texts.path).count == 1)
        let document = try await Browser.document(file)
        let link = try #require(document.firstMatch(of: /<a href="([^"]+)"/)).1
        let target = try #require(URL(string: String(link), relativeTo: file))
        #expect(try String(contentsOf: target.absoluteURL, encoding: .utf8).contains("/widgets/7"), "\(link)")
      }
    }

    @Test func `does not run or load the content of any displayed field`() async throws {
      try await withLog { server in
        try await Self.get("widgets/7", on: server)
      } _: { log, calls, mock in
        let sent = mock.requests.count
        let home = mock.url.absoluteString
        let code = "document.documentElement.dataset.hit=1;fetch('\(home)/stolen')"
        let payloads = [
          "</script><script>\(code)</script>", "<img src='\(home)/stolen' onerror=\"\(code)\">",
          "\"><svg onload=\"\(code)\">", "javascript:\(code)", "<!--<script>",
          "]]></style><style>*{background:url(\(home)/stolen)}",
          "<a href=\"javascript:\(code)\" autofocus onfocus=\"\(code)\">", "\u{2028}\u{202E}${\(code)}{{\(code)}}",
          "<iframe srcdoc=\"<script>\(code)</script>\">", "<meta http-equiv=refresh content=\"0;url=\(home)/stolen\">",
        ]
        for (number, payload) in payloads.enumerated() {
          log.record(Self.poisoned(try #require(calls.first), payload, id: 100 + number))
        }
        await log.finish()
        for number in payloads.indices {
          let document = try await Browser.document(log.page, filter: "mark\(number)x")
          #expect(rows(document) == 1 && document.contains("Flight record"), "the page shows payload \(number)")
          #expect(!document.contains("data-hit=\""), "the browser ran payload \(number)")
          #expect(!document.contains("<img") && !document.contains("<svg") && !document.contains("<iframe"))
        }
        #expect(rows(try await Browser.document(log.page)) == payloads.count + 1)
        #expect(mock.requests.count == sent, "\(mock.requests.map(\.path))")
      }
    }

    /// Returns a call with the payload in every text field.
    private static func poisoned(_ call: RecordedCall, _ payload: String, id: Int) -> RecordedCall {
      var call = call
      let field = HTTPHeaders.Field(HTTPHeaderName(payload), payload)
      (call.id, call.task, call.tag, call.comment) = (id, payload, "mark\(id - 100)x \(payload)", payload)
      (call.method, call.url, call.failure, call.outcome) = (HTTPMethod(payload), payload, payload, .failed)
      call.moments = [RecordedCall.Moment(time: .zero, kind: payload, text: payload)]
      for index in call.exchanges.indices {
        var body = RecordedCall.Body()
        (body.type, body.text, body.note) = (payload, payload, payload)
        call.exchanges[index].method = HTTPMethod(payload)
        call.exchanges[index].url = payload
        call.exchanges[index].headers = HTTPHeaders([field])
        call.exchanges[index].body = body
        call.exchanges[index].failure = payload
        call.exchanges[index].response?.headers = HTTPHeaders([field])
        call.exchanges[index].response?.trailers = HTTPHeaders([field])
        call.exchanges[index].response?.body = body
      }
      return call
    }

    @Test func `the page and the library generate the same curl commands`() async throws {
      try await withLog { server in
        try await Self.get("widgets/7", on: server)
      } _: { log, calls, _ in
        let call = try #require(calls.first)
        var exchanges: [RecordedCall.Exchange] = []
        func add(_ change: (inout RecordedCall.Exchange) -> Void) {
          var exchange = call.exchanges[0]
          change(&exchange)
          exchanges.append(exchange)
        }
        func body(_ text: String) -> RecordedCall.Body { .init(type: "text/plain", size: text.utf8.count, text: text) }
        add { _ in }
        add { ($0.method, $0.url) = (.head, "https://a.test/[x]/.hidden/%2e?q={1}") }
        add { ($0.method, $0.body) = (.post, body("it's \"quoted\" & <marked> $HOME `id` \\ é 日本")) }
        add { ($0.method, $0.body) = (.put, body("-n %s\u{1b}[31m\u{202e}'\\\u{7f}\r\n")) }
        add {
          ($0.method, $0.headers) = (.post, ["accept": " \t", "X'y": "a'b"])
        }
        add {
          ($0.method, $0.headers) = (
            .delete, ["Content-Length": "7", "B": "\u{9b}"]
          )
        }
        add { ($0.method, $0.body) = (.patch, body("a=1\nb=2")) }
        add { $0.body = .init(type: "application/zip", size: 9, note: "<9 bytes of application/zip>") }
        add { $0.body = .init(type: "image/png", size: 3, data: Data([0, 255, 39]), note: "<3 bytes of image/png>") }
        add { $0.body = body(String(repeating: "x", count: 20_000)) }
        add { $0.url = nil }
        for (number, exchange) in exchanges.enumerated() {
          var other = call
          (other.id, other.tag, other.exchanges) = (100 + number, "mark\(number)x", [exchange])
          log.record(other)
        }
        await log.finish()
        for (number, exchange) in exchanges.enumerated() {
          let document = try await Browser.document(log.page, filter: "mark\(number)x")
          let title = document.firstMatch(of: /<button title="([^"]*)"/).map { String($0.1) }
          let command = [("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", "\u{a0}"), ("&amp;", "&")].reduce(
            title
          ) {
            $0?.replacing($1.0, with: $1.1)
          }
          let isCut = (exchange.body?.text?.utf8.count ?? 0) > 16 << 10
          #expect(command == (isCut ? nil : exchange.curlCommand()), "\(number)")
        }
      }
    }

    @Test func `renders only the visible rows of 10,000 calls but searches all calls`() async throws {
      try await withLog { server in
        try await Self.get("widgets/7", on: server)
      } _: { log, calls, _ in
        let call = try #require(calls.first)
        for number in 1..<10_000 {
          var other = call
          (other.id, other.url) = (number + 100_000, "\(call.url ?? "")\(number)")
          other.startedAt += Double(number) / 100
          log.record(other)
        }
        await log.finish()
        let document = try await Browser.document(log.page)
        #expect(document.contains("10000 of 10000 calls") && (20...60).contains(rows(document)), "\(rows(document))")
        let found = try await Browser.document(log.page, filter: "widgets/79876")
        #expect(found.contains("1 of 10000 calls") && found.contains("Flight record"))
      }
    }
  }

  extension URL {
    fileprivate var originText: String { "\(scheme ?? "")://\(host ?? ""):\(port ?? 0)" }
  }
#endif
