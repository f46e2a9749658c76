#if os(Linux)
  import Testing

  @testable import Errand

  @Suite(.timeLimit(.minutes(1))) struct HeadLinesTests {
    /// Returns the verdict for each line of `text`.
    private func take(_ text: [String], _ lines: inout HeadLines, _ rules: HeadLines.Rules = .init()) -> [HeadLines
      .Verdict]
    {
      text.map { line in Array("\(line)\r\n".utf8).withUnsafeBytes { lines.take($0, rules) } }
    }

    @Test func `a head ends with an empty line, and later lines are trailers`() {
      var lines = HeadLines()
      #expect(lines.isUntouched)
      #expect(take(["HTTP/1.1 200 OK", "Server: a", ""], &lines) == [.more, .more, .complete])
      #expect(lines.isComplete && lines.bytes == Array("HTTP/1.1 200 OK\r\nServer: a\r\n\r\n".utf8))
      #expect(take(["Digest: b", ""], &lines) == [.trailer, .trailer])
    }

    @Test(arguments: ["100 Continue", "103 Early Hints", "199"])
    func `skips interim responses`(status: String) {
      var lines = HeadLines()
      #expect(take(["HTTP/1.1 \(status)", "Link: a", ""], &lines) == [.more, .more, .more])
      #expect(take(["HTTP/1.1 204 No Content", ""], &lines) == [.more, .complete])
      #expect(lines.bytes == Array("HTTP/1.1 204 No Content\r\n\r\n".utf8))
    }

    @Test(arguments: [" X-A: a", "\tX-A: a"]) func `rejects a folded line at the start of a head`(line: String) {
      for hints in [[], ["HTTP/1.1 103 Early Hints", "Link: a", ""]] {
        var lines = HeadLines()
        _ = take(hints, &lines)
        let steps = take(["HTTP/1.1 200 OK", line], &lines)
        #expect(steps == [.more, .refused("its head begins with a folded line")])
      }
    }

    @Test func `expects the first field directly after the status line`() {
      var lines = HeadLines()
      #expect(!lines.awaitsFirstField)
      _ = take(["HTTP/1.1 200 OK"], &lines)
      #expect(lines.awaitsFirstField)
      _ = take(["Server: a"], &lines)
      #expect(!lines.awaitsFirstField)
    }

    @Test func `rejects an HTTP/1.1 status line on an HTTP/2 stream`() {
      let rules = HeadLines.Rules(isMultiplexed: true)
      var lines = HeadLines()
      #expect(take(["HTTP/2 200 ", "server: a", ""], &lines, rules) == [.more, .more, .complete])
      var foreign = HeadLines()
      guard case .refused = take(["HTTP/1.1 200 OK"], &foreign, rules)[0] else {
        Issue.record("an HTTP/1.1 status line was accepted")
        return
      }
    }

    @Test func `skips a 417 if another head follows, and otherwise uses the 417 as the head`() {
      var answered = HeadLines()
      let rules = HeadLines.Rules(answers417: true)
      #expect(take(["HTTP/1.1 417 Expectation Failed", ""], &answered, rules) == [.more, .answered])
      let (isTaken, isTakenAgain) = (answered.completeAsItIs(), answered.completeAsItIs())
      #expect(isTaken && answered.isComplete && !isTakenAgain)
      var final = HeadLines()
      #expect(take(["HTTP/1.1 417 Expectation Failed", ""], &final) == [.more, .complete])
      var none = HeadLines()
      let isNoneTaken = none.completeAsItIs()
      #expect(!isNoneTaken)
    }

    @Test func `a truncated 417 is not a head`() {
      var lines = HeadLines()
      _ = take(["HTTP/1.1 417 Expectation Failed", "Server: a"], &lines, HeadLines.Rules(answers417: true))
      let isTaken = lines.completeAsItIs()
      #expect(!isTaken)
    }

    @Test func `rejects chunked coding in HTTP/1.0`() {
      var lines = HeadLines()
      let steps = take(["HTTP/1.0 200 OK", "Transfer-Encoding: chunked", ""], &lines)
      #expect(steps.last == .refused("it uses HTTP/1.0, but has a Transfer-Encoding"))
    }

    @Test func `limits the size of trailers`() {
      var lines = HeadLines()
      _ = take(["HTTP/1.1 200 OK", ""], &lines)
      let line = "A: " + String(repeating: "b", count: 1019)
      #expect(take(Array(repeating: line, count: 64), &lines).allSatisfy { $0 == .trailer })
      #expect(take([line], &lines) == [.refused("its trailer fields are larger than 64 KiB")])
    }
  }
#endif
