import ErrandTesting
import Foundation
import Testing

@testable import Errand
@testable import ErrandInspection

@Suite(.timeLimit(.minutes(1))) struct HTTPLogTests {
  /// Logs calls, and returns the log and the text of its page.
  private func logged(
    _ answers: StubLog.Answer..., below parent: URL, _ body: (Server) async throws -> Void
  ) async throws -> (log: HTTPLog, page: String) {
    let (log, stub) = (try HTTPLog(in: parent), StubLog(answers))
    var configuration = ServerConfiguration()
    configuration.recorders = [log]
    let server = Server(
      "https://shop.test", configuration: configuration, transport: StubTransport { try stub.answer($0) },
      environment: [:])
    try await body(server)
    await log.finish()
    return (log, try String(contentsOf: log.page, encoding: .utf8))
  }

  private static let injection = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&--><!--"

  @Test func `writes a text file and a page block for every call`() async throws {
    try await withFolder { parent in
      let (log, page) = try await logged(.widget, below: parent) { server in
        for id in 0..<3 { _ = try await GetWidget(id: id).on(server).download() }
      }
      let texts = try files(in: log.folder).filter { $0.hasSuffix(".txt") }
      #expect(texts == ["0001. GET Widget.txt", "0002. GET Widget.txt", "0003. GET Widget.txt"])
      let blocks = page.components(separatedBy: "class=\"call\">").dropFirst()
      #expect(blocks.count == 3)
      for (block, text) in zip(blocks, texts) {
        let json = try #require(block.components(separatedBy: "</script>").first)
        let entry = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect(entry["file"] as? String == text)
        let written = try String(contentsOf: log.folder.appendingPathComponent(text), encoding: .utf8)
        #expect(written.contains((entry["call"] as? [String: Any])?["url"] as? String ?? "-"))
      }
    }
  }

  @Test func `links to the newest log, which only its owner can read`() async throws {
    try await withFolder { parent in
      _ = try HTTPLog(in: parent)
      let log = try HTTPLog(in: parent)
      let latest = parent.appendingPathComponent("latest").path
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: latest) == log.folder.lastPathComponent)
      func mode(_ url: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
      }
      #expect(try mode(log.folder) == 0o700 && mode(log.page) == 0o600)
    }
  }

  @Test func `keeps the newest logs and all logs that are still being written`() async throws {
    try await withFolder { parent in
      func make(_ name: String, _ contents: [String]) throws {
        let folder = parent.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for content in contents { try Data("x".utf8).write(to: folder.appendingPathComponent(content)) }
      }
      func names() throws -> [String] { try files(in: parent).filter { $0 != "latest" } }
      let held = try HTTPLog(in: parent)
      let old = "2026-01-01 00.00.00 1 AAAA"
      try FileManager.default.moveItem(at: held.folder, to: parent.appendingPathComponent(old))
      for month in 2...6 { try make("2026-0\(month)-01 00.00.00 1 AAAA", ["index.html", "0001. GET Widget.txt"]) }
      try make("2026-02-01 00.00.00 1 AAAA", ["my notes.md"])
      try make("2025 pictures", ["index.html"])
      let all = try HTTPLog(in: parent, runs: nil)
      let log = try HTTPLog(in: parent, runs: 3)
      let left = ["2026-02-01 00.00.00 1 AAAA", old, "2025 pictures", "2026-06-01 00.00.00 1 AAAA"]
      let newest = [all.folder.lastPathComponent, log.folder.lastPathComponent]
      #expect(await eventually { (try? names())?.sorted() == (left + newest).sorted() })
      #expect(try files(in: parent.appendingPathComponent(left[0])) == ["my notes.md"])
      #expect(try files(in: parent.appendingPathComponent(old)) == ["index.html"], "the log is still being written")
      #expect(try files(in: parent.appendingPathComponent(left[3])).count == 2)
      withExtendedLifetime((held, all)) {}
    }
  }

  @Test func `removes only the files of a log, regardless of other files in its folder`() async throws {
    try await withFolder { parent in
      func make(_ folder: String, _ files: [String]) throws {
        let folder = parent.appendingPathComponent(folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for file in files { try Data("x".utf8).write(to: folder.appendingPathComponent(file)) }
      }
      let log = ["0001. GET Widget.txt", "index.html"]
      let (spared, mixed) = (
        ["2020-01-01 10.00.00 holiday", "2020-01-01 10.00.00 4711 1B2C kept"], "2021-01-01 10.00.00 4711 1B2C"
      )
      for name in spared { try make(name, log) }
      try make(mixed, log + ["notes.txt", "1 GET.txt"])
      try make("elsewhere", log)
      try make("2022-01-01 10.00.00 4711 1B2C", log)
      try FileManager.default.createSymbolicLink(
        at: parent.appendingPathComponent("2019-01-01 10.00.00 4711 1B2C"),
        withDestinationURL: parent.appendingPathComponent("elsewhere"))
      HTTPLog.removeOldest(in: parent, keeping: 0)
      #expect(try files(in: parent) == ["2019-01-01 10.00.00 4711 1B2C"] + spared.sorted() + [mixed, "elsewhere"])
      for name in spared + ["elsewhere"] {
        #expect(try files(in: parent.appendingPathComponent(name)) == log, "\(name)")
      }
      #expect(try files(in: parent.appendingPathComponent(mixed)) == ["1 GET.txt", "notes.txt"])
    }
  }

  @Test func `recognizes its own folder name`() async throws {
    try await withFolder { parent in
      var name = ""
      do { name = try HTTPLog(in: parent, runs: nil).folder.lastPathComponent }
      #expect(try files(in: parent) == [name, "latest"])
      HTTPLog.removeOldest(in: parent, keeping: 0)
      #expect(try files(in: parent) == ["latest"])
    }
  }

  @Test(arguments: [1e13, 1e18, 1e300, -1e300]) func `an extreme date does not trap`(seconds: Double)
    async throws
  {
    await #expect(processExitsWith: .success) { [seconds] in
      let calls = try await recordedCalls(.widget) { _ = try await GetWidget().on($0).download() }
      for var call in calls {
        call.startedAt = Date(timeIntervalSince1970: seconds)
        _ = pageBlock(of: call, file: "")
        _ = try HTTPArchive([call]).data()
      }
    }
  }

  @Test func `escapes input from peers and hides secrets`() async throws {
    try await withFolder { parent in
      let answer = StubLog.Answer.data(Data("\(Self.injection) token=s3cret".utf8), .plainText)
      let (_, page) = try await logged(answer, below: parent) { server in
        let task = URLTask(
          .known("https://shop.test/?token=s3cret"), method: .post, headers: ["X-Odd": Self.injection],
          body: .text(Self.injection))
        _ = try await task.on(server).tagged(Self.injection).comment(Self.injection).download()
      }
      #expect(!page.contains("s3cret") && !page.contains("<img") && !page.contains("<!--"))
      #expect(page.components(separatedBy: "<script").count == 3, "the page has one script, and the call has another")
    }
  }

  @Test func `no field of a call can close its page block`() async throws {
    let calls = try await recordedCalls(.status(503), .json(#"{"a":1}"#)) { server in
      let task = URLTask(.known("https://shop.test/a?b=c"), method: .put, headers: ["X-A": "b"], body: .text("body"))
      _ = try await task.on(server).retry(upTo: 1, after: .seconds(1)).tagged("tag").comment("comment").download()
    }
    var call = try #require(calls.first)
    call.failure = "failure"
    call.answer = call.exchanges[0].response
    call.exchanges[0].failure = "failure"
    call.exchanges[0].body?.note = "note"
    call.exchanges[1].response?.body?.note = "note"
    // Replaces every text except those with fixed values.
    let texts = try JSONSerialization.jsonObject(with: JSONEncoder().encode(call))
    let count = Shared(0)
    func spoiled(_ value: Any, _ key: String) -> Any {
      if let list = value as? [Any] { return list.map { spoiled($0, key) } }
      if let object = value as? [String: Any] {
        return Dictionary(uniqueKeysWithValues: object.map { ($0.key, spoiled($0.value, $0.key)) })
      }
      guard value is String, !["outcome", "version", "data"].contains(key) else { return value }
      count.withLock { $0 += 1 }
      return Self.injection
    }
    let data = try JSONSerialization.data(withJSONObject: spoiled(texts, ""))
    let bad = try JSONDecoder().decode(RecordedCall.self, from: data)
    #expect(count.withLock { $0 } > 40 && bad.exchanges[1].response?.body?.text == Self.injection)
    let block = pageBlock(of: bad, file: Self.injection).block
    let (begin, end) = ("<script type=\"application/json\" class=\"call\">", "</script>\n")
    #expect(block.hasPrefix(begin) && block.hasSuffix(end))
    let json = block.dropFirst(begin.count).dropLast(end.count)
    #expect(!json.contains("<") && !json.contains("\n"))
    let read = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    #expect(read["file"] as? String == Self.injection)
    #expect((read["call"] as? [String: Any])?["comment"] as? String == Self.injection)
  }

  @Test func `logs the URL of its page when it starts`() async throws {
    try await withFolder { parent in
      let said = Shared<[String]>([])
      let log = try HTTPLog(in: parent, log: LogOutput { text in said.withLock { $0.append(text) } })
      #expect(said.withLock { $0 } == ["HTTPLog: \(log.page.absoluteString)"])
      #expect(log.page.absoluteString.hasPrefix("file:///"))
    }
  }

  #if !canImport(Darwin)
    @Test(arguments: [nil, "", "state", "/var/state"]) func `the default folder follows the XDG specification`(
      stated: String?
    ) {
      let home = FileManager.default.homeDirectoryForCurrentUser.path
      let folder = HTTPLog.stateFolder(stated.map { ["XDG_STATE_HOME": $0] } ?? [:]).path
      #expect(folder == (stated == "/var/state" ? "/var/state/errand" : "\(home)/.local/state/errand"))
    }
  #endif

  @Test func `stops writing at the count limit and logs this once`() async throws {
    try await withFolder { parent in
      let said = Shared<[String]>([])
      let log = try HTTPLog(in: parent, limit: 2, log: LogOutput { text in said.withLock { $0.append(text) } })
      let stub = StubServer(.widget)
      await stub.server.update { $0.recorders = [log] }
      for id in 0..<4 { _ = try await GetWidget(id: id).on(stub.server).download() }
      await log.finish()
      #expect(try files(in: log.folder).count { $0.hasSuffix(".txt") } == 2)
      #expect(said.withLock { $0.count } == 2 && said.withLock { $0.last }?.contains("limit of 2 calls") == true)
    }
  }

  @Test func `stops writing at the size limit and logs this once`() async throws {
    try await withFolder { parent in
      let said = Shared<[String]>([])
      let log = try HTTPLog(in: parent, maximumSize: 5000, log: LogOutput { text in said.withLock { $0.append(text) } })
      let stub = StubServer(.data(Data(repeating: 0x61, count: 4000), .plainText)) { $0.recorders = [log] }
      for _ in 0..<4 {
        _ = try await PlainTask().on(stub.server).downloadData()
        await log.finish()
      }
      #expect(try files(in: log.folder).count { $0.hasSuffix(".txt") } == 1 && log.lost == 3)
      #expect(
        said.withLock { $0.count } == 2 && said.withLock { $0.last }?.contains("maximumSize of 5000 bytes") == true)
    }
  }

  @Test func `the page's content security policy allows only its own script`() throws {
    // The bracket and the combining mark form a different character, but the bracket still starts a tag.
    let page = LogPage.head(title: "<q> <\u{338}q & \"x\"")
    #expect(page.range(of: Data("<q".utf8)) == nil && page.range(of: Data("<\u{338}".utf8)) == nil)
    let head = String(decoding: page, as: UTF8.self)
    let hash = Data(SHA256.hash(Array(LogPage.script.utf8))).base64EncodedString()
    #expect(head.contains("script-src 'sha256-\(hash)'") && head.contains("<script>\(LogPage.script)</script>"))
    #expect(head.contains("default-src 'none'") && !head.contains("http://"))
    for word in ["innerHTML", "outerHTML", "document.write", "eval(", "fetch("] {
      #expect(!LogPage.script.contains(word))
    }
  }

  @Test func `throws .fileNotWritable with the path if the folder can't be created`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      try Data().write(to: file)
      let error = #expect(throws: TaskError.self) { try HTTPLog(in: file) }
      #expect(error?.code == .fileNotWritable && error?.reason.contains(file.path) == true)
    }
  }
}
