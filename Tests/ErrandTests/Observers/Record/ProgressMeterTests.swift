import ErrandTesting
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct ProgressMeterTests {
  @Test func `reports immediately, then at most 20 times a second, and at the end`() {
    var meter = ProgressMeter(.down, attempt: 1, total: 1000, at: .zero)
    var reported = 0
    for step in 0..<1000 where meter.add(1, at: .milliseconds(step)) != nil { reported += 1 }
    #expect(reported == 20)
    let end = meter.finish(at: .seconds(1))
    #expect(end.isFinished && end.completed == 1000 && end.fraction == 1 && end.remaining == .zero)
  }

  @Test func `computes fraction, rate and remaining time`() throws {
    var meter = ProgressMeter(.up, attempt: 2, total: 10_000, at: .seconds(5))
    let firstTold = meter.add(1000, at: .seconds(6))
    let first = try #require(firstTold)
    #expect(first.fraction == 0.1 && first.rate == 1000 && first.remaining == .seconds(9) && first.attempt == 2)
    let secondTold = meter.add(3000, at: .seconds(7))
    let second = try #require(secondTold)
    #expect(
      second.rate == 2000 && second.completed == 4000 && second.remaining == .seconds(3),
      "the rate is the mean since the start")
    // From now on, each second has a weight of one quarter.
    _ = meter.add(2000, at: .seconds(8))
    let fourthTold = meter.add(0, at: .seconds(9))
    #expect(try #require(fourthTold).rate == 1500)
  }

  @Test func `reports no rate at first, then a stable rate for a steady flow`() throws {
    var meter = ProgressMeter(.down, attempt: 1, total: nil, at: .zero)
    let atOnce = meter.add(100_000, at: .microseconds(300))
    #expect(try #require(atOnce).rate == nil)
    var steady = ProgressMeter(.down, attempt: 1, total: nil, at: .zero)
    var rates: [Double] = []
    for step in 1...1000 {
      if let reported = steady.add(10_000, at: .milliseconds(8 * step))?.rate { rates.append(reported) }
    }
    #expect(rates.allSatisfy { abs($0 / 1_250_000 - 1) < 0.1 } && rates.count > 100)
  }

  @Test func `unknown values are nil, and the fraction never exceeds 1`() throws {
    var unknown = ProgressMeter(.down, attempt: 1, total: nil, at: .zero)
    let progressTold = unknown.add(5, at: .zero)
    let progress = try #require(progressTold)
    #expect(progress.fraction == nil && progress.rate == nil && progress.remaining == nil && progress.completed == 5)
    var short = ProgressMeter(.down, attempt: 1, total: 2, at: .zero)
    let moreTold = short.add(5, at: .seconds(1))
    let more = try #require(moreTold)
    #expect(more.fraction == 1 && more.remaining == nil)
  }
}
