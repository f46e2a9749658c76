import Errand
import ErrandFoundation

// Connection reuse, and exchanges on a stale pooled connection.
extension TransportConformance {
  static let connections: [Check] = [
    Check("reuses a connection") { trial in
      let first = try await trial.fetch(try trial.request(), answer: .text("a")).response
      let second = try await trial.fetch(try trial.request(), answer: .text("b")).response
      try trial.holds(!first.isConnectionReused, "the first connection is new")
      try trial.isReused(second)
    },
    Check("does not reuse a connection after Connection: close", needs: .connections) { trial in
      try await trial.fetch(try trial.request(), answer: .text("a").closing())
      try await trial.fetch(try trial.request(), answer: .text("b"))
      try trial.equal(trial.server.connectionCount, 2, "the number of connections")
    },
    Check("does not resend a POST if its pooled connection is stale", needs: .connections) { trial in
      try await trial.fetch(try trial.request(), answer: .text("a"))
      trial.server.enqueue(.drop)
      let error = try await trial.failure(of: try trial.request(.post, body: .text("x")), .connectionLost)
      try trial.holds(!error.wasNotSent, "the request may have been read")
      try trial.equal(trial.server.requests.map(\.method), [.get, .post], "the requests")
    },
    Check("does not resend a GET that must not be repeated if its pooled connection is stale", needs: .connections) {
      trial in
      try await trial.fetch(try trial.request(), answer: .text("a"))
      trial.server.enqueue(.drop)
      _ = try await trial.failure(of: try trial.request(), .connectionLost)
      try trial.equal(trial.server.requestCount, 2, "the number of requests")
    },
    Check("resends a repeatable GET if its pooled connection is stale", needs: .connections) { trial in
      try await trial.fetch(try trial.request(), answer: .text("a"))
      trial.server.enqueue(.drop)
      trial.server.route(.get, "/", answer: .text("b"))
      let (_, body) = try await trial.fetch(try trial.request { $0.mayRepeat = true })
      try trial.equal(body, Data("b".utf8), "the body")
      try trial.equal(trial.server.requestCount, 3, "the number of requests")
    },
    Check("returns the right responses to a hundred concurrent requests") { trial in
      trial.server.route(.get, "/:number") { .text($0.parameters["number"] ?? "") }
      try await withThrowingTaskGroup { group in
        for number in 0..<100 {
          group.addTask {
            let (_, body) = try await trial.fetch(try trial.request(.get, "/\(number)"))
            try trial.equal(body, Data("\(number)".utf8), "the body")
          }
        }
        try await group.waitForAll()
      }
    },
  ]
}
