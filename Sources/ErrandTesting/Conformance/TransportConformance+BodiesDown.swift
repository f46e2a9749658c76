import Errand
import Foundation

// Bodies of responses.
extension TransportConformance {
  static let bodiesDown: [Check] = delivery + decoding

  private static let delivery: [Check] = [
    (
      "the head is there before the body",
      { trial in
        trial.server.enqueue(.text("much later").bodyAfter(.seconds(3600)))
        let response = try await trial.transport.send(try trial.request())
        try trial.equal(response.status, .ok, "the status")
        response.body.cancel()
      }
    ),
    (
      "a body comes byte for byte, whatever its framing",
      { trial in
        let bytes = Data((0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 &* 131) })
        let pieces = stride(from: 0, to: bytes.count, by: 70_001).map { bytes[$0..<min($0 + 70_001, bytes.count)] }
        let untilClose = Data("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".utf8) + bytes
        for answer: MockAnswer in [.data(bytes), .chunked(pieces), .raw(untilClose)] {
          try trial.equal(try await trial.fetch(try trial.request(), answer: answer).body, bytes, "the body")
        }
      }
    ),
    (
      "fields after the body are there at its end",
      { trial in
        let raw =
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n"
        let (response, body) = try await trial.fetch(try trial.request(), answer: .raw(Data(raw.utf8)))
        try trial.equal(body, Data("ok".utf8), "the body")
        try trial.equal(response.body.trailers["X-Sum"], "7", "the trailer")
        try trial.equal(response.headers["X-Sum"], nil, "the same among the header fields")
      }
    ),
    (
      "a reader who does not read makes the server wait, and gets everything once they do",
      { trial in
        trial.server.enqueue(.endless(chunk: Data(count: 64 << 10)))
        trial.server.route("/tick", answer: .status(204))
        let body = try await trial.transport.send(try trial.request()).body
        // A clock of sorts: what is not held back is hundreds of megabytes by then.
        for _ in 0..<500 { try await trial.fetch(try trial.request(.get, "/tick")) }
        let sent = trial.server.bytesSent
        try trial.holds(sent < 64 << 20, "the server waits, but it has sent \(sent >> 20) MiB to a reader of none")
        var count = 0
        while count < 128 << 20, let chunk = try await body.next() { count += chunk.count }
        body.cancel()
        try await trial.server.waitForOpenConnections(1)
      }
    ),
    (
      "leaving a body early closes its connection",
      { trial in
        trial.server.enqueue(.endless(chunk: Data(count: 1000)))
        do {
          let response = try await trial.transport.send(try trial.request())
          for try await _ in response.body { break }
        }
        try await trial.server.waitForOpenConnections(0)
      }
    ),
    (
      "a body that nobody reads closes its connection when it is let go",
      { trial in
        trial.server.enqueue(.endless(chunk: Data(count: 1000)))
        _ = try await trial.transport.send(try trial.request()).status
        try await trial.server.waitForOpenConnections(0)
      }
    ),
  ]

  private static let decoding: [Check] = [
    (
      "a compressed body is asked for and decoded where that is wanted",
      { trial in
        let answer = MockAnswer.data(compressed).header(.contentEncoding, "gzip")
        let (response, body) = try await trial.fetch(try trial.request { $0.decodesBody = true }, answer: answer)
        try trial.equal(body, Data("hello, hello, hello, hello".utf8), "the body")
        try trial.equal(response.status, .ok, "the status")
        let accepted = try trial.received().headers[.acceptEncoding] ?? "nothing"
        try trial.holds(accepted.contains("gzip"), "gzip is accepted, but Accept-Encoding is \(accepted)")
      }
    ),
    (
      "a compressed body stays as it is where decoding is not wanted",
      { trial in
        let answer = MockAnswer.data(compressed).header(.contentEncoding, "gzip")
        let (_, body) = try await trial.fetch(try trial.request(headers: ["Accept-Encoding": "gzip"]), answer: answer)
        try trial.equal(body, compressed, "the body")
      }
    ),
    (
      "a body that grows beyond all measure while it is decoded is refused",
      { trial in
        trial.server.enqueue(.data(bomb).header(.contentEncoding, "gzip"))
        _ = try await trial.failure(of: try trial.request { $0.decodesBody = true }, .bodyTooLarge)
      }
    ),
    (
      "a body whose encoding is broken is an error",
      { trial in
        trial.server.enqueue(.data(Data("no gzip at all".utf8)).header(.contentEncoding, "gzip"))
        _ = try await trial.failure(of: try trial.request { $0.decodesBody = true }, .badResponse)
      }
    ),
  ]

  /// "hello, hello, hello, hello", as gzip.
  private static let compressed = Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJ11HIwKQAVaOCdxoAAAA=") ?? Data()

  /// 8,400,000 zeros in 8,174 bytes: gzip, made by zlib. Almost all of it is zeros too, each of which stands for 1032.
  private static let bomb: Data = {
    let start: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xED, 0xC1, 0x81, 0, 0, 0, 0, 0xC3, 0xA0, 0xF9]
    let codes: [UInt8] = [0x53, 0x1F, 0xE1, 0x02, 0x55, 0x01]
    let end: [UInt8] = [0xC0, 0x37, 0x59, 0x16, 0x01, 0xCC, 0x80, 0x2C, 0x80, 0]
    return Data(start + codes) + Data(count: 8138) + Data(end)
  }()
}
