#if os(Linux)
  import Testing

  @testable import Errand

  @Suite struct HeadLinesTests {
    /// The steps that the lines of `text` lead to.
    private func take(
      _ text: [String], _ lines: inout HeadLines, beginsAnew: Bool = false, passesOver401: Bool = false
    ) -> [HeadLines.Step] {
      text.map { line in
        Array("\(line)\r\n".utf8).withUnsafeBytes {
          lines.take($0, beginsAnew: beginsAnew, passesOver401: passesOver401)
        }
      }
    }

    @Test func `a head ends with its blank line, and what comes later is a trailer`() {
      var lines = HeadLines()
      #expect(take(["HTTP/1.1 200 OK", "Server: a", ""], &lines) == [.more, .more, .complete])
      #expect(lines.isComplete && lines.bytes == Array("HTTP/1.1 200 OK\r\nServer: a\r\n\r\n".utf8))
      #expect(take(["Digest: b", ""], &lines) == [.trailer, .trailer])
    }

    @Test(arguments: ["100 Continue", "103 Early Hints", "199"])
    func `interim responses are passed over`(status: String) {
      var lines = HeadLines()
      #expect(take(["HTTP/1.1 \(status)", "Link: a", ""], &lines) == [.more, .more, .more])
      #expect(take(["HTTP/1.1 204 No Content", ""], &lines) == [.more, .complete])
      #expect(lines.bytes == Array("HTTP/1.1 204 No Content\r\n\r\n".utf8))
    }

    @Test(arguments: ["\r", "stray"])
    func `a line that begins with a line break ends the head, whatever else is on it`(rest: String) {
      var lines = HeadLines()
      #expect(take(["HTTP/1.1 200 OK", "\r" + rest], &lines) == [.more, .complete])
    }

    @Test func `another protocol is no interim response`() {
      var lines = HeadLines()
      #expect(take(["HTTP/1.1 101 Switching Protocols", ""], &lines) == [.more, .complete])
    }

    @Test func `a challenge is passed over where it is answered, and is the head where nothing follows`() {
      var answered = HeadLines()
      #expect(take(["HTTP/1.1 401 Unauthorized", ""], &answered, passesOver401: true) == [.more, .more])
      let (isTaken, isTakenAgain) = (answered.completeAsItIs(), answered.completeAsItIs())
      #expect(isTaken && answered.isComplete && !isTakenAgain)
      var final = HeadLines()
      #expect(take(["HTTP/1.1 401 Unauthorized", ""], &final) == [.more, .complete])
      var none = HeadLines()
      let isNoneTaken = none.completeAsItIs()
      #expect(!isNoneTaken)
    }
  }
#endif
