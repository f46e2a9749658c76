import Errand
import ErrandFoundation

// Response bodies.
extension TransportConformance {
  static let bodiesDown: [Check] = delivery + decoding

  private static let delivery: [Check] = [
    Check("returns the head before the body arrives", needs: .promptHeads) { trial in
      trial.server.enqueue(.text("much later").bodyAfter(.seconds(3600)))
      let response = try await trial.transport.send(try trial.request())
      try trial.equal(response.status, .ok, "the status")
      response.body.cancel()
    },
    Check("delivers the body unchanged, whatever its framing") { trial in
      let bytes = Data((0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 &* 131) })
      let pieces = stride(from: 0, to: bytes.count, by: 70_001).map { bytes[$0..<min($0 + 70_001, bytes.count)] }
      let untilClose = Data("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".utf8) + bytes
      for answer: MockAnswer in [.data(bytes), .chunked(pieces), .raw(untilClose)] {
        try trial.equal(try await trial.fetch(try trial.request(), answer: answer).body, bytes, "the body")
      }
    },
    Check("delivers trailer fields at the end of the body", needs: .trailers) { trial in
      let raw =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n"
      let (response, body) = try await trial.fetch(try trial.request(), answer: .raw(Data(raw.utf8)))
      try trial.equal(body, Data("ok".utf8), "the body")
      try trial.equal(response.body.trailers["X-Sum"], "7", "the trailer")
      try trial.equal(response.headers["X-Sum"], nil, "X-Sum in the header fields")
    },
    Check("makes the server wait while the body is not read, then delivers everything") { trial in
      trial.server.enqueue(.endless(chunk: Data(count: 64 << 10)))
      trial.server.route("/tick", answer: .status(204))
      let body = try await trial.transport.send(try trial.request()).body
      // Without backpressure, hundreds of megabytes would arrive during these requests.
      for _ in 0..<500 { try await trial.fetch(try trial.request(.get, "/tick")) }
      let sent = trial.server.bytesSent
      try trial.holds(sent < 64 << 20, "the server waits, but it sent \(sent >> 20) MiB while nothing was read")
      var count = 0
      while count < 128 << 20, let chunk = try await body.next() { count += chunk.count }
      body.cancel()
      try await trial.waitForIdleness(keeping: 1)
    },
    Check("closes the connection if reading the body stops early") { trial in
      trial.server.enqueue(.endless(chunk: Data(count: 1000)))
      do {
        let response = try await trial.transport.send(try trial.request())
        for try await _ in response.body { break }
      }
      try await trial.waitForIdleness()
    },
    Check("closes the connection when an unread body is released") { trial in
      trial.server.enqueue(.endless(chunk: Data(count: 1000)))
      _ = try await trial.transport.send(try trial.request()).status
      try await trial.waitForIdleness()
    },
  ]

  private static let decoding: [Check] = [
    Check("requests and decodes a compressed body if decompression is on") { trial in
      let answer = MockAnswer.data(CompressedSample.gzip).header(.contentEncoding, "gzip")
      let (response, body) = try await trial.fetch(try trial.request { $0.decodesBody = true }, answer: answer)
      try trial.equal(body, CompressedSample.text, "the body")
      try trial.equal(response.status, .ok, "the status")
      let accepted = try trial.received().headers[.acceptEncoding] ?? "nothing"
      try trial.holds(accepted.contains("gzip"), "gzip is accepted, but Accept-Encoding is \(accepted)")
    },
    Check("leaves a compressed body unchanged if decompression is off") { trial in
      let answer = MockAnswer.data(CompressedSample.gzip).header(.contentEncoding, "gzip")
      let (_, body) = try await trial.fetch(try trial.request(headers: ["Accept-Encoding": "gzip"]), answer: answer)
      try trial.equal(body, CompressedSample.gzip, "the body")
    },
    Check("rejects a body that becomes too large when decoded") { trial in
      // Consecutive members are one body (RFC 1952 §2.2).
      let bomb = CompressedSample.zeros + CompressedSample.zeros + CompressedSample.zeros
      trial.server.enqueue(.data(bomb).header(.contentEncoding, "gzip"))
      _ = try await trial.failure(of: try trial.request { $0.decodesBody = true }, .bodyTooLarge)
    },
    Check("fails if the compressed body is invalid") { trial in
      trial.server.enqueue(.data(Data("no gzip at all".utf8)).header(.contentEncoding, "gzip"))
      _ = try await trial.failure(of: try trial.request { $0.decodesBody = true }, .badResponse)
    },
  ]
}
