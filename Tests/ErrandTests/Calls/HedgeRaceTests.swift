import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct HedgeRaceTests {
  @Test func `sends hedges up to the maximum until a response is acceptable`() {
    var race = HedgeRace(.after(.seconds(1), maximum: 2))
    for _ in 0..<2 {
      #expect(race.mayLaunch)
      race.launched()
    }
    #expect(!race.mayLaunch)
    #expect(race.ended(isAcceptable: false) == .keep)
    #expect(race.ended(isAcceptable: true) == .win)
    #expect(race.ended(isAcceptable: true) == .discard)
  }

  @Test func `sends no hedge after the only exchange has failed`() {
    var race = HedgeRace(.after(.seconds(1)))
    #expect(race.ended(isAcceptable: false) == .lose)
    #expect(!race.mayLaunch)
  }

  @Test func `sends no hedge after the server asks the client to wait`() {
    var race = HedgeRace(.after(.seconds(1), maximum: 5))
    race.launched()
    #expect(race.ended(isAcceptable: false, asksToWait: true) == .keep)
    #expect(!race.mayLaunch)
    #expect(race.ended(isAcceptable: true) == .win)
  }
}
