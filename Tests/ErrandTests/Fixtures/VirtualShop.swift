import Errand
import ErrandTesting
import Foundation

/// A server with a stub transport in virtual time, and the events of its calls.
struct VirtualShop {
  let clock: ManualClock
  let events = EventRecorder()
  let server: Server
  private let sent = Shared(0)

  /// Creates a server that answers with `answer`, which receives the number of the request, starting at 1.
  init(
    _ mode: ManualClock.Mode = .manual, limits: ThrottleLimits = ThrottleLimits(),
    budget: RetryBudget = .unlimited, configure: (inout ServerConfiguration) -> Void = { _ in },
    answer:
      @escaping @Sendable (_ number: Int, _ request: HTTPRequest, _ clock: ManualClock) async throws ->
      HTTPResponse
  ) {
    let clock = ManualClock(mode)
    var configuration = ServerConfiguration()
    configuration.observers = [events]
    configuration.log = .discard
    configure(&configuration)
    self.clock = clock
    let sent = sent
    server = Server(
      "https://shop.test", configuration: configuration,
      transport: StubTransport { request in
        let number = sent.withLock { sent in
          sent += 1
          return sent
        }
        return try await answer(number, request, clock)
      },
      manager: TaskManager(
        limits: limits, retryBudget: budget, clock: CallClock(clock), random: CallRandom(SeededGenerator(seed: 7))))
  }

  /// The number of requests that reached the transport.
  var sentCount: Int { sent.withLock { $0 } }

  var manager: TaskManager { server.manager }

  /// Switches the server to another remote and to the token of user b.
  func switchUser() async {
    await server.update {
      $0.remote = Remote("https://b.test")
      $0.authentication = .bearer("b")
    }
  }

  /// Creates a task on this server.
  func task(_ path: String = "widgets", method: HTTPMethod = .get) -> Modified<ShopTask> {
    ShopTask(path: path, httpMethod: method).on(server)
  }

  /// Returns the descriptions of all calls' moments that contain `text`.
  func moments(containing text: String) -> [String] { events.moments().filter { $0.contains(text) } }
}

struct ShopTask: ServerTask {
  let path: String
  let httpMethod: HTTPMethod
}

extension HTTPResponse {
  static func ok(_ request: HTTPRequest) -> HTTPResponse { .status(.ok, for: request) }
  static func unavailable(_ request: HTTPRequest, _ headers: HTTPHeaders = [:]) -> HTTPResponse {
    .status(.serviceUnavailable, headers: headers, for: request)
  }
}

extension ManualClock {
  /// Waits for sleepers, then advances the time.
  func pass(_ duration: Duration, sleepers count: Int = 1) async {
    await sleepers(count: count)
    advance(by: duration)
  }
}

/// Returns the error thrown by `body`, if it is a `TaskError`.
func taskError(_ body: () async throws -> Void) async -> TaskError? {
  do {
    try await body()
    return nil
  } catch {
    return error as? TaskError
  }
}
