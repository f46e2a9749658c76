#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// The guide's transport passes every conformance check except those it opts out of by name.
  @Suite(.timeLimit(.minutes(3))) struct PlainTransportTests {
    static let all = TransportConformance { PlainTransport() }.cases
    static let checks = all.filter { !leftOut.contains($0.name) }

    static let leftOut: Set = [
      // No connection is kept.
      "a connection is used again",
      "204 and 304 have no body, and their connection goes on",
      "the answer to HEAD has a length and no body, and its connection goes on",
      "a GET that may be repeated survives the death of its pooled connection",
      // No time limits.
      "the connect timer names itself, and nothing was sent",
      "the timer of the first byte names itself",
      "the idle timer names itself",
      "the timer of the attempt ends a body that drips",
      // Has no chunked encoding.
      "a stream of unknown length is sent in chunks",
      "a body comes byte for byte, whatever its framing",
      "a body that ends before its last chunk is truncated",
      "fields after the body are there at its end",
      "a reader who does not read makes the server wait, and gets everything once they do",
      "leaving a body early closes its connection",
      "a body that nobody reads closes its connection when it is let go",
      "cancelling in a body without end ends the exchange and its connection",
      "cancelling while a body is sent ends its source as well",
      // Decompresses nothing and sends no `Expect: 100-continue`.
      "a compressed body is asked for and decoded where that is wanted",
      "a body that grows beyond all measure while it is decoded is refused",
      "a body whose encoding is broken is an error",
      "a body that asks first is sent after the server's consent",
    ]

    @Test(arguments: checks)
    func `a plain transport does what it must`(_ check: TransportConformance.Case) async throws {
      try await check.run()
    }

    @Test func `the guide states the number of checks`() throws {
      #expect(Self.checks.count + Self.leftOut.count == Self.all.count, "a name is not that of a check")
      let guide = DocumentedCode.package.appendingPathComponent("Sources/Errand/Errand.docc/WritingATransport.md")
      let text = try String(contentsOf: guide, encoding: .utf8)
      #expect(text.contains("passes \(Self.checks.count) of the \(Self.all.count) checks"))
    }

    @Test func `downloads a widget`() async throws {
      let mock = try MockServer()
      mock.route(.get, "/widgets/7") { _ in .json(#"{"id": 7, "name": "Cog"}"#) }
      let shop = Server(remote: Remote(mock.url), transport: PlainTransport())
      let widget = try await GetWidget(id: 7).on(shop).download()
      #expect(widget.name == "Cog" && mock.requestCount == 1)
    }
  }
#endif
