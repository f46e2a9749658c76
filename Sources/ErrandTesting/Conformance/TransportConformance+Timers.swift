import Errand
import ErrandFoundation

// Time limits of less than a second. The error names the limit.
extension TransportConformance {
  private static let short = Duration.milliseconds(300)

  static let timers: [Check] = [
    Check("reports the connect time limit, and that nothing was sent") { trial in
      let listener = try FullListener()
      defer { listener.close() }
      var request = try trial.request()
      request.url = listener.url
      request.options.timeouts = Timeouts(connect: short)
      let error = try await trial.failure(of: request, .timedOut)
      try trial.equal(error.timer, .connect, "the timer")
      try trial.equal(error.limit, short, "the limit")
      try trial.holds(error.wasNotSent, "the request was not sent")
    },
    Check("reports the first-byte time limit") { trial in
      trial.server.enqueue(.hang)
      let error = try await trial.failure(
        of: try trial.request { $0.timeouts = Timeouts(firstByte: short) }, .timedOut)
      try trial.equal(error.timer, .firstByte, "the timer")
      try trial.equal(error.limit, short, "the limit")
      try trial.holds(!error.wasNotSent, "the request may have been read")
      try await trial.waitForIdleness()
    },
    Check("reports the idle time limit", needs: .promptHeads) { trial in
      trial.server.enqueue(.text("never").bodyAfter(.seconds(3600)))
      let error = try await trial.failure(of: try trial.request { $0.timeouts = Timeouts(idle: short) }, .timedOut)
      try trial.equal(error.timer, .idle, "the timer")
      try trial.equal(error.phase, .receiving, "the phase")
      try await trial.waitForIdleness()
    },
    Check("ends a dripping body when the attempt's time limit expires") { trial in
      trial.server.enqueue(.data(Data(count: 100_000)).throttled(bytes: 1, every: .milliseconds(5)))
      let error = try await trial.failure(of: try trial.request { $0.timeouts = Timeouts(attempt: short) }, .timedOut)
      try trial.equal(error.timer, .attempt, "the timer")
      try await trial.waitForIdleness()
    },
    Check("does not time out while a body makes progress or its reader is slow") { trial in
      trial.server.enqueue(.data(Data(count: 60)).throttled(bytes: 1, every: .milliseconds(20)))
      let request = try trial.request {
        $0.timeouts = Timeouts(firstByte: .seconds(1), idle: .seconds(1))
      }
      try trial.equal(try await trial.fetch(request).body.count, 60, "the number of bytes")
    },
  ]
}
