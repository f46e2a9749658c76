import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// An accepted 401 keeps its entire body if its request is not resent.
@Suite(.timeLimit(.minutes(1))) struct AcceptedUnauthorizedTests {
  /// An authenticator without another token.
  private struct OneToken: Authenticator {
    func storedToken() async throws -> String? { "old" }
    func apply(_ token: String, to request: inout HTTPRequest) { request.headers["X-Token"] = token }
    func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
      nil
    }
  }

  /// Creates a shop that answers with a 401 of 100 bytes, more than the maximum for errors.
  private func shop(
    budget: RetryBudget = .unlimited, configure: (inout ServerConfiguration) -> Void
  ) -> VirtualShop {
    VirtualShop(
      .autoAdvancing, budget: budget,
      configure: {
        $0.maximumErrorBodySize = 10
        configure(&$0)
      },
      answer: { _, request, _ in
        let body = ScriptedBody([String(repeating: "x", count: 100)], .ends)
        return HTTPResponse(401, url: request.url, body: HTTPResponseBody(body))
      })
  }

  enum Verb: CaseIterable {
    case memory, stream, file

    func body(_ task: some ServerTask) async throws -> Data {
      switch self {
      case .memory: return try await task.downloadData()
      case .stream: return try await task.stream().body.collect()
      case .file:
        return try await withFolder { folder in
          let file = folder.appendingPathComponent("file")
          try await task.download(to: file)
          return try Data(contentsOf: file)
        }
      }
    }
  }

  @Test(arguments: Verb.allCases) func `keeps the entire body of an accepted 401 if there is no other token`(
    verb: Verb
  ) async throws {
    let shop = shop {
      $0.authentication = .custom(OneToken())
      $0.retryPolicy = .never
    }
    #expect(try await verb.body(shop.task().accepting(.all)).count == 100)
  }

  @Test func `keeps the entire body of an accepted 401 stream if the retry budget is exhausted`() async throws {
    let tokens = Counter()
    let shop = shop(budget: RetryBudget(ratio: 0, capacity: 0)) {
      $0.authentication = .bearer {
        tokens.add()
        return "\(tokens.count)"
      }
    }
    #expect(try await shop.task().accepting(.all).stream().body.collect().count == 100)
  }
}
