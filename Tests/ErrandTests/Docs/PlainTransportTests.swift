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
      "reuses a connection",
      "returns no body for 204 and 304, and reuses the connection",
      "returns a length but no body for HEAD, and reuses the connection",
      "resends a repeatable GET if its pooled connection is stale",
      // No time limits.
      "reports the connect time limit, and that nothing was sent",
      "reports the first-byte time limit",
      "reports the idle time limit",
      "ends a dripping body when the attempt's time limit expires",
      // No chunked encoding.
      "sends a stream of unknown length in chunks",
      "delivers the body unchanged, whatever its framing",
      "reports a body that ends before its last chunk as truncated",
      "delivers trailer fields at the end of the body",
      "makes the server wait while the body is not read, then delivers everything",
      "closes the connection if reading the body stops early",
      "closes the connection when an unread body is released",
      "closes the connection if cancelled while reading an endless body",
      "stops the body's source if cancelled while sending",
      // No decompression and no `Expect: 100-continue`.
      "requests and decodes a compressed body if decompression is on",
      "rejects a body that becomes too large when decoded",
      "fails if the compressed body is invalid",
      "sends a body with Expect: 100-continue after the server's 100",
    ]

    @Test(arguments: checks)
    func `the guide's transport passes every check that it supports`(_ check: TransportConformance.Case) async throws {
      try await check.run()
    }

    @Test func `the guide states the number of checks`() throws {
      #expect(Self.checks.count + Self.leftOut.count == Self.all.count, "leftOut contains an unknown check")
      let guide = DocumentedCode.package.appendingPathComponent("Sources/Errand/Errand.docc/WritingATransport.md")
      let text = try String(contentsOf: guide, encoding: .utf8)
      #expect(text.contains("passes \(Self.checks.count) of the \(Self.all.count) checks"))
    }

    @Test func `downloads a widget`() async throws {
      let mock = try MockServer()
      mock.route(.get, "/widgets/7") { _ in .json(#"{"id": 7, "name": "Cog"}"#) }
      let shop = Server(Remote(mock.url), transport: PlainTransport())
      let widget = try await GetWidget(id: 7).on(shop).download()
      #expect(widget.name == "Cog" && mock.requestCount == 1)
    }
  }
#endif
