import ErrandInspection

#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Third-party HAR parsers.
  private enum Haralyzer {
    static let interpreter = Python.interpreter(
      with: "haralyzer, importlib.util; assert importlib.util.find_spec(\"harparser\")")
    static let isExpected = interpreter != nil || ProcessInfo.processInfo.environment["CI"] == "true"
  }

  /// Reads a HAR file with two parsers from PyPI, haralyzer and harparser. harparser checks the required and optional
  /// fields of every object.
  @Suite(.timeLimit(.minutes(3)), .enabled(if: Haralyzer.isExpected))
  struct ArchiveReaderTests {
    @Test func `haralyzer and harparser read an exported HAR file`() async throws {
      let python = try #require(Haralyzer.interpreter, "haralyzer is not installed")
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-har-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }  // leftovers are harmless
      let mock = try MockServer()
      mock.route("/widgets/7", answer: .json(#"{"id":7,"password":"s3cret"}"#))
      mock.route(.post, "/moved", answer: .status(307, headers: ["Location": "/widgets/7"]))
      mock.enqueue(.status(503, headers: ["Retry-After": "0"]))
      let calls = RecordedCalls()
      var configuration = ServerConfiguration()
      configuration.recorders = [calls]
      let server = Server(Remote(mock.url), configuration: configuration, environment: [:])
      let task = Endpoint<Void, [String: String]>.get("widgets/7", query: ["page": "1 2", "token": "s3cret"])
      _ = try await task.on(server).retry(upTo: 2, after: .milliseconds(1)).run()
      _ = try await URLTask(mock.url.appendingPathComponent("moved"), method: .post, body: .text("hällo")).on(server)
        .run()
      try calls.archive.write(to: folder.appendingPathComponent("calls.har"))
      let program = #"""
        import collections, collections.abc, json, sys
        from haralyzer import HarParser, HarEntry
        # harparser predates this version of Python.
        collections.MutableMapping = collections.abc.MutableMapping
        from harparser import HAR
        def check(part, kind):
            for key in part:
                known = key in kind.__required__ or key in kind.__optional__ or key in getattr(kind, "__required_exclusives__", {})
                assert known or key.startswith("_"), key
                for inner in part[key] if isinstance(part[key], list) else [part[key]]:
                    if isinstance(inner, collections.abc.MutableMapping): check(inner, type(inner))
        whole = HAR.log(json.load(open(sys.argv[1] + "/calls.har"))["log"])
        check(whole, type(whole))
        parser = HarParser(json.load(open(sys.argv[1] + "/calls.har")))
        out = [parser.har_data["version"], parser.har_data["creator"]["name"]]
        for raw in parser.har_data["entries"]:
            entry = HarEntry(raw)
            total = sum(raw["timings"][k] for k in ("blocked", "dns", "connect", "send", "wait", "receive") if raw["timings"][k] > 0)
            assert abs(total - entry.time) < 0.01, raw["timings"]
            assert entry.startTime.tzinfo is not None
            out.append(" ".join([entry.request.method, entry.request.url.split("/", 3)[3], str(entry.response.status),
                                 str(entry.request.bodySize), str(raw["_attempt"]),
                                 entry.response.redirectURL or "-"]))
        open(sys.argv[1] + "/out.txt", "w").write("\n".join(out))
        """#
      try Data(program.utf8).write(to: folder.appendingPathComponent("read.py"))
      let status = await Shell.run(
        "'\(python)' '\(folder.path)/read.py' '\(folder.path)' 2> '\(folder.path)/errors.txt'")
      let errors = (try? String(contentsOf: folder.appendingPathComponent("errors.txt"), encoding: .utf8)) ?? ""
      #expect(status == 0, "\(errors)")
      let lines = try String(contentsOf: folder.appendingPathComponent("out.txt"), encoding: .utf8)
        .split(separator: "\n").map(String.init)
      #expect(
        lines == [
          "1.2", "Errand", "GET widgets/7?page=1%202&token=<redacted> 503 0 1 -",
          "GET widgets/7?page=1%202&token=<redacted> 200 0 2 -", "POST moved 307 6 1 /widgets/7",
          "POST widgets/7 200 6 1 -",
        ])
    }
  }
#endif
