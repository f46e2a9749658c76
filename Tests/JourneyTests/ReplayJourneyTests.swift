import Errand
import ErrandInspection
import ErrandTesting
import Foundation
import Testing

/// Records calls on real sockets and replays them without a network.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct ReplayJourneyTests {
  /// Returns a shop with a redirect, a cookie, a chunked body and a picture.
  private func open() throws -> MockServer {
    let mock = try MockServer()
    mock.route("/widgets/:id", answer: .json(#"{"id":7,"name":"Sprocket"}"#).header("Set-Cookie", "sid=planted1"))
    mock.route("/moved") { _ in
      .status(302, headers: ["Location": "/widgets/7?token=planted2"], body: "a body that nobody reads")
    }
    mock.route("/pieces", answer: .chunked(["one ", "two ", "three"].map { Data($0.utf8) }, type: .plainText))
    mock.route("/picture", answer: .data(Data((0...255).map { UInt8($0) }), type: "image/png"))
    return mock
  }

  /// Makes all calls and returns their results as text.
  private func story(_ server: Server, bad: () -> Void) async throws -> [String] {
    var reported: [String] = []
    let moved = try await Endpoint<Void, Widget>.get("moved").on(server).response()
    reported.append("\(moved.payload.name) \(moved.response.redirects.map(\.status.code))")
    bad()
    let again = try await GetWidget().on(server).retry(upTo: 1, after: .milliseconds(1)).response()
    reported.append("\(again.attempts.map { $0.status?.code ?? 0 })")
    var text = ""
    for try await chunk in try await PlainTask(path: "pieces").on(server).stream().body {
      text += String(decoding: chunk, as: UTF8.self)
    }
    reported.append(text)
    let picture = try await PlainTask(path: "picture").on(server).downloadData()
    reported.append("\(picture.count) \(picture.last ?? 0)")
    let head = try await Endpoint<Void, Void>.request(.head, "widgets/7").on(server).run()
    reported.append("\(head.status) \(head.headers[.contentLength] ?? "-")")
    let missing = try await PlainTask(path: "nothing").on(server).accepting(.all).run()
    reported.append("\(missing.status)")
    return reported
  }

  @Test func `records a session once and replays the session without a network`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("session.har")
      let mock = try open()
      let transport = try ReplayTransport(from: file, options: ReplayOptions(recording: .once), log: .discard)
      let live = Server(Remote(mock.url), transport: transport, environment: [:])
      let reported = try await story(live) { mock.enqueue(.status(503, body: "later")) }
      #expect(
        reported == ["Sprocket [302]", "[503, 200]", "one two three", "256 255", "200 OK 26", "404 Not Found"],
        "\(reported)")
      try await transport.finish()
      mock.stop()
      let text = try String(contentsOf: file, encoding: .utf8)
      #expect(!text.contains("planted"))
      let archive = try HTTPArchive(data: Data(text.utf8))
      #expect(archive.entries.allSatisfy { $0.serverIPAddress == nil && $0.timings.wait >= 0 && $0.time > 0 })
      let player = try ReplayTransport(from: file)
      let played = Server(Remote(mock.url), transport: player, environment: [:])
      #expect(try await story(played) {} == reported)
      #expect(player.unplayed.isEmpty, "\(player.unplayed.map(\.request.url))")
    }
  }
}
