import Errand
import ErrandFoundation

// Cancellation must be prompt, throw `CancellationError`, and leave nothing behind.
extension TransportConformance {
  static let cancellations: [Check] = [
    Check("sends nothing if the task is already cancelled") { trial in
      let request = try trial.request()
      let work = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await trial.fetch(request).response.status
      }
      try await trial.isCancelled(work)
      try trial.equal(trial.server.requestCount, 0, "the number of requests")
    },
    Check("closes the connection if cancelled before the head arrives") { trial in
      trial.server.enqueue(.hang)
      let request = try trial.request()
      let work = Task { try await trial.fetch(request).response.status }
      _ = try await trial.server.nextRequest()
      work.cancel()
      try await trial.isCancelled(work)
      try await trial.waitForIdleness()
    },
    Check("closes the connection if cancelled while a body is stalled", needs: .promptHeads) { trial in
      try await cancelInBody(.text("x").bodyAfter(.seconds(3600)), on: trial)
    },
    Check("closes the connection if cancelled while reading an endless body") { trial in
      try await cancelInBody(.endless(chunk: Data(count: 60_000)), on: trial)
    },
    Check("stops the body's source if cancelled while sending") { trial in
      trial.server.route(.put, "/", answer: .status(200))
      let hasEnded = AsyncStream<Void>.makeStream()
      let body = HTTPBody.stream {
        AsyncStream<Data> { stream in
          stream.yield(Data("first".utf8))
          stream.onTermination = { _ in hasEnded.continuation.finish() }
        }
      }
      let request = try trial.request(.put, body: body)
      let work = Task { try await trial.fetch(request).response.status }
      try await trial.server.waitForOpenConnections(1)
      work.cancel()
      try await trial.isCancelled(work)
      for await _ in hasEnded.stream {}
      try await trial.waitForIdleness()
    },
    Check("sends the next request normally after cancelled requests") { trial in
      trial.server.route(.get, "/slow", answer: .text("x").after(.milliseconds(20)))
      trial.server.route(.get, "/now", answer: .text("now"))
      let slow = try trial.request(.get, "/slow")
      for round in 0..<50 {
        let work = Task { _ = try await trial.fetch(slow) }
        await giveWay(round)
        work.cancel()
        _ = await work.result
        try trial.equal(try await trial.fetch(try trial.request(.get, "/now")).body, Data("now".utf8), "the body")
      }
    },
  ]

  private static func cancelInBody(_ answer: MockAnswer, on trial: ConformanceTrial) async throws {
    trial.server.enqueue(answer)
    let response = try await trial.transport.send(try trial.request())
    let work = Task { while try await response.body.next() != nil {} }
    work.cancel()
    try await trial.isCancelled(work)
    try await trial.waitForIdleness()
  }
}
