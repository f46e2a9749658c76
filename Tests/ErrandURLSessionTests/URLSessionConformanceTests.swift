import Errand
import ErrandTesting
import ErrandURLSession
import Testing

@Suite(.timeLimit(.minutes(1)))
struct URLSessionConformanceTests {
  #if canImport(Darwin)
    static let session = TransportConformance { URLSessionTransport() }.cases
  #else
    /// In the other checks, FoundationNetworking crashes, such as after a non-HTTP response (`Fatal error: Transfer
    /// completed, but there's no response`), or can hang, if an exchange is abandoned while its response arrives.
    static let session = TransportConformance { URLSessionTransport() }.cases.filter { survivable.contains($0.name) }

    private static let survivable: Set = [
      "returns a redirect like any other response", "returns a 401 like any other response",
      "neither stores nor sends cookies", "sends any method unchanged", "does not send the fragment",
      "sends bytes with their length", "sends a stream of known length with its length",
      "sends a file with its length",
      "sends a stream that can only be read once",
      "sends Content-Length: 0 for an empty body", "fails if a stream is shorter than its declared length",
      "fails without sending anything if the file does not exist",
      "rejects a header field with a line break without sending anything",
      "rejects an invalid method without sending anything", "rejects schemes other than http and https",
      "reports that nothing was sent if the connection is refused",
      "reports a body that is shorter than its length as truncated",
      "does not reuse a connection after Connection: close",
      "sends nothing if the task is already cancelled", "returns the right responses to a hundred concurrent requests",
    ]
  #endif

  @Test(arguments: session)
  func `URLSession passes the checks that FoundationNetworking survives`(
    _ check: TransportConformance.Case
  ) async throws {
    try await check.run(limit: .seconds(50))
  }
}
