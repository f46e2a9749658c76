import Errand
import ErrandTesting
import ErrandURLSession
import Testing

@Suite(.timeLimit(.minutes(1)))
struct URLSessionConformanceTests {
  #if canImport(Darwin)
    static let session = TransportConformance { URLSessionTransport() }.cases
  #else
    /// FoundationNetworking crashes in the other checks, e.g. after a non-HTTP response (`Fatal error: Transfer
    /// completed, but there's no response`), or may hang if an exchange is abandoned while its response arrives.
    static let session = TransportConformance { URLSessionTransport() }.cases.filter { survivable.contains($0.name) }

    private static let survivable: Set = [
      "a redirect is a response like any other", "a 401 is a response like any other",
      "cookies are neither kept nor sent", "any method is sent as it is", "a fragment is not sent",
      "bytes are sent with their length", "a stream of known length is sent with its length",
      "a file is sent with its length",
      "a stream that comes once is sent",
      "a body of no bytes is sent as one", "a stream that is shorter than stated is an error",
      "a file that is not there is an error, and nothing was sent",
      "a header field with a line break is refused, and nothing is sent",
      "a method that is no token is refused, and nothing is sent", "only http and https are carried",
      "a refused connection is an error that says that nothing was sent",
      "a body that ends before its length is truncated",
      "a connection that was said to close is not used again",
      "a task that was cancelled before sends nothing", "a hundred exchanges at once get each its own answer",
    ]
  #endif

  @Test(arguments: session)
  func `URLSession passes the checks that FoundationNetworking survives`(
    _ check: TransportConformance.Case
  ) async throws {
    try await check.run(limit: .seconds(50))
  }
}
