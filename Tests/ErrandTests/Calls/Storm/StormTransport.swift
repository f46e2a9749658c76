import ErrandTesting
import Foundation

@testable import Errand

/// Gives random answers in virtual time. The answers depend only on the seed and the request's number.
struct StormTransport: Transport {
  let seed: UInt64
  let clock: StormClock
  let ledger: StormLedger
  let tokens: StormTokens
  let perHost: Int

  var checksAddresses: Bool { true }

  func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    ledger.arrive(request, limit: perHost)
    var fate: StormLedger.Fate?
    defer { ledger.leave(request, fate) }
    var random = SeededGenerator(seed: seed &+ UInt64(ledger.nextNumber()) &* 0x9E6C_63D0_876A_68D5)
    do {
      let response = try await answer(request, &random)
      fate = .answered(response.status)
      return response
    } catch let error as TaskError where error.wasNotSent {
      fate = .notSent
      throw error
    }
  }

  private func answer(_ request: HTTPRequest, _ random: inout SeededGenerator) async throws -> HTTPResponse {
    let feature = request.url.pathComponents.dropFirst().first ?? ""
    let isInner = feature == "inner"
    let chance = Int.random(in: 0..<100, using: &random)
    // A hedge costs a retry even if it is the first request to be sent. The ledger does not count that retry.
    if !isInner, chance < 3, request.headers["X-Hedged"] == nil {
      throw TaskError(.cannotConnect, "refused", phase: .connecting, wasNotSent: true)
    }
    try await request.body.forEachChunk { _ in }
    let isSlow = feature == "slow" || feature == "paid"
    try await pause(upTo: isSlow ? 24 : 6, request, &random)
    if !isInner {
      switch chance {
      case 3..<6: throw TaskError(.connectionLost, "lost", phase: .awaitingResponse)
      case 6..<10: return .unavailable(request)
      case 10..<12: return .status(429, headers: [.retryAfter: "0"], for: request)
      case 12: return .status(404, for: request)
      default: break
      }
    }
    switch feature {
    case "cached": return cached(request, &random)
    case "token" where request.headers["X-Token"] != "\(tokens.valid)": return .status(.unauthorized, for: request)
    case "token" where chance > 90: tokens.revoke()
    case "moved": return moved(request, &random)
    case "digest": if let challenge = challenge(request, chance) { return challenge }
    case "weak" where Int(clock.now.offset / .ticks(150)) % 2 == 0: return .unavailable(request)
    default: break
    }
    return whole(request, [:], &random)
  }

  /// Waits for a random time, or fails if the time limit is shorter.
  private func pause(upTo most: Int, _ request: HTTPRequest, _ random: inout SeededGenerator) async throws {
    let time = Duration.ticks(max(0, Int.random(in: -2...most, using: &random)))
    if let limit = request.options.timeouts.attempt, limit < time {
      try await clock.sleep(for: limit)
      throw TaskError.timeout(.attempt, after: limit, phase: .awaitingResponse)
    }
    if time > .zero { try await clock.sleep(for: time) }
  }

  private func cached(_ request: HTTPRequest, _ random: inout SeededGenerator) -> HTTPResponse {
    let age = ["max-age=0", "max-age=1", "max-age=1, stale-while-revalidate=60"].randomElement(using: &random) ?? ""
    let headers: HTTPHeaders = [.cacheControl: age, "ETag": #""1""#]
    if request.headers[.ifNoneMatch] != nil, Bool.random(using: &random) {
      return .status(.notModified, headers: headers, for: request)
    }
    return whole(request, headers, &random)
  }

  private func moved(_ request: HTTPRequest, _ random: inout SeededGenerator) -> HTTPResponse {
    let status = ([301, 302, 303, 307, 308] as [HTTPStatus]).randomElement(using: &random) ?? 307
    let host = Bool.random(using: &random) ? "https://other.test" : ""
    let path = Int.random(in: 0..<3, using: &random) == 0 ? "moved" : "plain"
    return .status(status, headers: [.location: "\(host)/\(path)/\(request.url.lastPathComponent)"], for: request)
  }

  private func challenge(_ request: HTTPRequest, _ chance: Int) -> HTTPResponse? {
    let isStale = request.headers[.authorization] != nil
    guard !isStale || chance > 95 else { return nil }
    let value = #"Digest realm="r", nonce="\#(chance)", qop="auth"\#(isStale ? ", stale=true" : "")"#
    return .status(.unauthorized, headers: [.wwwAuthenticate: value], for: request)
  }

  /// Creates a response with a body in memory, or in chunks that take time and may fail.
  private func whole(
    _ request: HTTPRequest, _ headers: HTTPHeaders, _ random: inout SeededGenerator
  ) -> HTTPResponse {
    guard Int.random(in: 0..<5, using: &random) < 2 else { return .text("storm", headers, for: request) }
    let source = StormBody(
      clock, ledger, delays: (0..<3).map { _ in Int.random(in: -2...4, using: &random) },
      breaks: Int.random(in: 0..<20, using: &random) == 0)
    return HTTPResponse(url: request.url, headers: headers, body: HTTPResponseBody(source))
  }
}

/// A body whose chunks take virtual time.
final class StormBody: HTTPBodySource {
  private let clock: StormClock
  private let ledger: StormLedger
  private let left: Shared<[Int]>
  private let breaks: Bool
  private let isOpen = Shared(true)

  init(_ clock: StormClock, _ ledger: StormLedger, delays: [Int], breaks: Bool) {
    (self.clock, self.ledger, self.breaks) = (clock, ledger, breaks)
    left = Shared(delays)
    ledger.openBody()
  }

  deinit { close() }

  func next() async throws -> Data? {
    guard let delay = left.withLock({ $0.popLast() }) else {
      close()
      return nil
    }
    do {
      try Task.checkCancellation()
      if delay > 0 { try await clock.sleep(for: .ticks(delay)) }
      if breaks { throw TaskError(.connectionLost, "lost in the body", phase: .receiving) }
    } catch {
      close()
      throw error
    }
    return Data("storm".utf8)
  }

  func cancel() { close() }

  private func close() {
    let wasOpen = isOpen.withLock { isOpen in
      defer { isOpen = false }
      return isOpen
    }
    if wasOpen { ledger.closeBody() }
  }
}
