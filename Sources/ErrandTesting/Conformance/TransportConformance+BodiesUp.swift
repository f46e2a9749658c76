import Errand
import ErrandFoundation

// Request bodies.
extension TransportConformance {
  static let bodiesUp: [Check] = kinds + surprises

  private static let kinds: [Check] = [
    Check("sends bytes with their length") { trial in
      let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
      try await trial.fetch(try trial.request(.post, body: .bytes(bytes)), answer: .status(201))
      let request = try trial.received()
      try trial.equal(request.body, bytes, "the body")
      try trial.equal(request.headers[.contentLength], "300000", "Content-Length")
    },
    Check("sends a stream of known length with its length") { trial in
      let body = HTTPBody.stream(length: 6) { chunks("abc", "def") }
      try await trial.fetch(try trial.request(.put, body: body), answer: .status(200))
      let request = try trial.received()
      try trial.equal(request.body, Data("abcdef".utf8), "the body")
      try trial.equal(request.headers[.contentLength], "6", "Content-Length")
    },
    Check("sends a stream of unknown length in chunks", needs: .requestFraming) { trial in
      let body = HTTPBody.stream { chunks("abc", "", "def") }
      try await trial.fetch(try trial.request(.post, body: body), answer: .status(200))
      let request = try trial.received()
      try trial.equal(request.body, Data("abcdef".utf8), "the body")
      try trial.equal(request.headers[.contentLength], nil, "Content-Length")
    },
    Check("sends a stream that can only be read once") { trial in
      let body = HTTPBody.once(chunks("once"), length: 4)
      try await trial.fetch(try trial.request(.post, body: body), answer: .status(200))
      try trial.equal(try trial.received().body, Data("once".utf8), "the body")
    },
    Check("sends a file with its length") { trial in
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("errand-\(UUID().uuidString)")
      let bytes = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
      try bytes.write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }  // leaving the file behind is harmless
      try await trial.fetch(try trial.request(.put, body: .file(file)), answer: .status(200))
      let request = try trial.received()
      try trial.equal(request.body, bytes, "the body")
      try trial.equal(request.headers[.contentLength], "700000", "Content-Length")
    },
    Check("sends trailer fields, or rejects the request before sending it", needs: .connections) { trial in
      let body = HTTPBody.stream { chunks("abc") }.trailers(["X-Sum"]) { ["X-Sum": "7"] }
      do {
        try await trial.fetch(try trial.request(.put, body: body), answer: .status(200))
      } catch let error as TaskError where error.wasNotSent {
        return
      }
      let request = try trial.received()
      try trial.equal(request.body, Data("abc".utf8), "the body")
      try trial.equal(request.headers["Trailer"], "X-Sum", "Trailer")
      try trial.equal(request.trailers["X-Sum"], "7", "the trailer field")
    },
    Check("sends Content-Length: 0 for a POST without a body") { trial in
      try await trial.fetch(try trial.request(.post), answer: .status(200))
      try trial.equal(try trial.received().headers[.contentLength], "0", "Content-Length")
    },
    Check("sends Content-Length: 0 for an empty body") { trial in
      try await trial.fetch(try trial.request(.put, body: .bytes(Data())), answer: .status(200))
      try trial.equal(try trial.received().headers[.contentLength], "0", "Content-Length")
    },
  ]

  private static let surprises: [Check] = [
    Check("fails if a stream is shorter than its declared length") { trial in
      let body = HTTPBody.stream(length: 7) { chunks("abc") }
      _ = try await trial.failure(of: try trial.request(.put, body: body), .bodyLengthMismatch)
    },
    Check("fails if a stream is longer than its declared length") { trial in
      let body = HTTPBody.stream(length: 4) { chunks("abc", "def") }
      _ = try await trial.failure(of: try trial.request(.put, body: body), .bodyLengthMismatch)
    },
    Check("fails without sending anything if the file does not exist") { trial in
      let file = URL(fileURLWithPath: "/nowhere/at/all")
      let error = try await trial.failure(of: try trial.request(.put, body: .file(file)), .unreadableBody)
      try trial.holds(error.wasNotSent, "the request was not sent")
    },
    Check("rethrows the error of a body stream") { trial in
      let body = HTTPBody.stream(length: 10) {
        AsyncThrowingStream<Data, any Error> { $0.finish(throwing: Broken()) }
      }
      do {
        try await trial.fetch(try trial.request(.put, body: body))
        throw Failure("expected the stream's error, got a response")
      } catch is Broken {
        return
      }
    },
    Check("returns a response that arrives before the body has been sent", needs: .earlyAnswers) { trial in
      let answer = MockAnswer.status(413, body: "too much").earlyAnswer().closing()
      let body = HTTPBody.bytes(Data(count: 16 << 20))
      let (response, text) = try await trial.fetch(try trial.request(.post, body: body), answer: answer)
      try trial.equal(response.status, .contentTooLarge, "the status")
      try trial.equal(text, Data("too much".utf8), "the body")
    },
    Check("sends a body with Expect: 100-continue after the server's 100", needs: .expectations) { trial in
      let request = try trial.request(.post, body: .bytes(Data("asked".utf8))) { $0.continueTimeout = .seconds(60) }
      let (response, _) = try await trial.fetch(request, answer: .status(200))
      try trial.equal(response.status, .ok, "the status")
      let received = try trial.received()
      try trial.equal(received.headers[.expect]?.lowercased(), "100-continue", "Expect")
      try trial.equal(received.body, Data("asked".utf8), "the body")
    },
    Check("returns the rejection of a body with Expect: 100-continue", needs: .refusals) { trial in
      try await refuse(with: .unauthorized, on: trial)
    },
    // If the connection stays open, the request is sent again without the expectation (RFC 9110 §10.1.1).
    Check(
      "returns a 417 that closes the connection for a body with Expect: 100-continue", needs: [.refusals, .connections]
    ) {
      try await refuse(with: 417, on: $0)
    },
  ]

  private static func refuse(with status: HTTPStatus, on trial: ConformanceTrial) async throws {
    let request = try trial.request(.post, body: .bytes(Data(count: 100))) { $0.continueTimeout = .seconds(60) }
    let answer = MockAnswer.status(status, body: "no").earlyAnswer().closing()
    let (response, text) = try await trial.fetch(request, answer: answer)
    try trial.equal(response.status, status, "the status")
    try trial.equal(text, Data("no".utf8), "the body")
    try trial.equal(trial.server.requestCount, 1, "the number of requests")
  }

  private struct Broken: Error {}

  private static func chunks(_ texts: String...) -> AsyncStream<Data> {
    AsyncStream { stream in
      for text in texts { stream.yield(Data(text.utf8)) }
      stream.finish()
    }
  }
}
