import Errand
import ErrandTesting
import Foundation
import Testing

/// A small version of `errand-bench storm`, which cancels calls over real sockets at random.
@Suite(.balancedEvents, .timeLimit(.minutes(3)))
struct StormTests {
  private static let paths = ["now", "late", "drip", "long", "up"]

  private func makeRemote() throws -> MockServer {
    let remote = try MockServer(keeping: 0)
    remote.route(.get, "/now", answer: .json(#"{"id":7}"#))
    remote.route(.get, "/late", answer: .json(#"{"id":7}"#).after(.milliseconds(2)))
    let chunks = Array(repeating: Data(repeating: 1, count: 100), count: 4)
    remote.route(.get, "/drip", answer: .chunked(chunks).throttled(bytes: 100, every: .milliseconds(1)))
    remote.route(.get, "/long", answer: .data(Data(repeating: 2, count: 700_000)))
    remote.route(.post, "/up", answer: .status(201))
    return remote
  }

  /// Runs a call and cancels it after yielding `yields` times, which doesn't depend on a clock.
  private func once(_ path: String, of remote: MockServer, on server: Server, yields: Int) async -> Result<
    Void, any Error
  > {
    let url = remote.url.appending(path: path)
    let call = Task {
      if path == "up" {
        _ = try await URLTask(url, method: .post, body: .bytes(Data(count: 100_000))).on(server).upload()
      } else {
        _ = try await URLTask(url).on(server).downloadData()
      }
    }
    await giveWay(yields)
    call.cancel()
    return await call.result
  }

  @Test func `2,000 randomly cancelled calls end with success or CancellationError`() async throws {
    let remote = try makeRemote()
    let server = Server(Remote(remote.url), manager: TaskManager(limits: ThrottleLimits(perHost: 32)))
    let (successes, cancellations) = await withTaskGroup(of: (Int, Int).self) { group in
      for worker in 0..<50 {
        group.addTask {
          var counts = (0, 0)
          for round in 0..<40 {
            let yields = (worker * 40 + round) * 7919 % 400
            switch await once(Self.paths[(worker + round) % 5], of: remote, on: server, yields: yields) {
            case .success: counts.0 += 1
            case .failure(is CancellationError): counts.1 += 1
            case .failure(let error): Issue.record(error)
            }
          }
          return counts
        }
      }
      return await group.reduce(into: (0, 0)) { $0 = ($0.0 + $1.0, $0.1 + $1.1) }
    }
    #expect(successes + cancellations == 2000)
    #expect(cancellations > 0)
    #expect(server.manager.runningCount == 0)
    #expect(server.manager.waitingCount == 0)
    #expect(server.manager.callCount == 0)
  }

  @Test func `a released transport closes its connections after its exchanges have finished`() async throws {
    let remote = try makeRemote()
    remote.route(.get, "/endless", answer: .endless(chunk: Data(count: 10_000)))
    var transport: (any Transport)? = PlatformTransport()
    var bodies: [HTTPResponseBody] = []
    for path in ["now", "drip", "endless", "endless", "long"] {
      let request = HTTPRequest(.get, remote.url.appending(path: path))
      if let response = try await transport?.send(request) { bodies.append(response.body) }
    }
    transport = nil
    // Started exchanges continue without the transport …
    #expect(try await bodies[0].collect().count == 8)
    #expect(try await bodies[1].collect().count == 400)
    #expect(try await bodies[2].next() != nil)
    #expect(try await bodies[4].collect().count == 700_000)
    // … and the last exchange closes all connections.
    bodies = []
    try await remote.waitForOpenConnections(0)
  }

  @Test func `one of two readers gets the entire body, and the other gets an error`() async throws {
    let remote = try makeRemote()
    let chunks = Array(repeating: Data(count: 1000), count: 50)
    remote.route(.get, "/shared", answer: .chunked(chunks).throttled(bytes: 1000, every: .milliseconds(1)))
    let body = try await PlatformTransport().send(HTTPRequest(.get, remote.url.appending(path: "shared"))).body
    let readers = (0..<2).map { _ in Task { try await body.collect() } }
    var sizes: [Int] = []
    for reader in readers {
      do {
        sizes.append(try await reader.value.count)
      } catch {
        #expect(error is HTTPBodyConsumedError)
      }
    }
    #expect(sizes == [50_000])
  }
}
