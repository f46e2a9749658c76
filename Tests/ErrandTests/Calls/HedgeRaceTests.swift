import Testing

@testable import Errand

@Suite struct HedgeRaceTests {
  @Test func `a hedge is made while the first is under way and no answer is there`() {
    var race = HedgeRace(.after(.seconds(1), maximum: 2))
    #expect(race.delayOver(isUnderWay: false) { true } == .wait)
    #expect(race.delayOver(isUnderWay: true) { true } == .launch)
    #expect(race.delayOver(isUnderWay: true) { true } == .launch)
    #expect(race.delayOver(isUnderWay: true) { true } == .stop)
    #expect(race.ended(isAcceptable: false) == .keep)
    #expect(race.ended(isAcceptable: true) == .win)
    #expect(race.ended(isAcceptable: true) == .discard)
  }

  @Test func `all that fail lose, and nothing is launched afterwards`() {
    var race = HedgeRace(.after(.seconds(1)))
    #expect(race.ended(isAcceptable: false) == .lose)
    #expect(race.delayOver(isUnderWay: true) { true } == .stop)
  }

  @Test func `once an answer asks for a wait nothing is launched`() {
    var race = HedgeRace(.after(.seconds(1), maximum: 5))
    #expect(race.delayOver(isUnderWay: true) { true } == .launch)
    #expect(race.ended(isAcceptable: false, asksToWait: true) == .keep)
    #expect(race.delayOver(isUnderWay: true) { true } == .stop)
    #expect(race.ended(isAcceptable: true) == .win)
  }

  @Test func `what a hedge costs is not asked where there will be none`() {
    var race = HedgeRace(.after(.seconds(1)))
    #expect(race.delayOver(isUnderWay: true) { false } == .stop)
    _ = race.ended(isAcceptable: true)
    #expect(
      race.delayOver(isUnderWay: true) {
        Issue.record("it was asked")
        return true
      } == .stop)
  }
}
