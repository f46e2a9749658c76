import Foundation
import Testing

@testable import Errand
@testable import ErrandURLSession

@Suite(.timeLimit(.minutes(1))) struct TransferMomentsTests {
  @Test func `timings are relative to the start, and a reused connection has no connect time`() {
    let start = Date(timeIntervalSinceReferenceDate: 1000)
    var moments = TransferMoments()
    moments.fetchStart = start
    moments.domainLookupEnd = start + 0.25
    moments.secureConnectionStart = start + 0.5
    moments.secureConnectionEnd = start + 1
    moments.connectEnd = start + 1
    moments.requestStart = start + 1.25
    moments.responseStart = start + 2
    moments.responseEnd = start + 3
    moments.transactions = 2
    let timings = moments.timings
    #expect(timings.nameLookup == .seconds(0.25) && timings.connect == .seconds(0.5))
    #expect(timings.secureConnect == .seconds(1) && timings.requestStart == .seconds(1.25))
    #expect(timings.firstByte == .seconds(2) && timings.lastByte == .seconds(3) && timings.wasResent)
    var reused = TransferMoments()
    reused.fetchStart = start
    reused.requestStart = start + 0.5
    #expect(reused.timings.connect == reused.timings.nameLookup && reused.timings.requestStart == .seconds(0.5))
    #expect(reused.timings.lastByte == .seconds(0.5) && !reused.timings.wasResent)
  }

  @Test(arguments: [("http/1.1", HTTPVersion.http1_1), ("h2", .http2), ("h3", .http3), ("spdy", nil)])
  func `maps protocol names to HTTP versions`(name: String, version: HTTPVersion?) {
    #expect(HTTPVersion(protocolName: name) == version)
  }
}
