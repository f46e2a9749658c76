import Errand
import ErrandFoundation

/// The outcome of an exchange.
struct FuzzOutcome: Sendable {
  let exchange: FuzzExchange
  /// Whether an earlier exchange on the same transport was mutated.
  let isAfterWild: Bool
  let started: UInt64
  let elapsed: Duration
  let result: Result<FuzzAnswer, any Error>

  /// The time by which an exchange may exceed its limits, because the machine may be busy or slowed by a sanitizer.
  static let slack = Duration.seconds(5)

  /// A violation that the peer's behavior can't explain.
  var finding: String? {
    if elapsed > exchange.limit + Self.slack { return "late: it took \(elapsed) (limit: \(exchange.limit))" }
    guard case .failure(let error) = result else { return nil }
    if let damage = error as? FuzzDamage { return "a failed download changed the file: \(damage.error)" }
    guard let error = error as? TaskError else { return "no TaskError: \(error)" }
    return error.code == .internal ? "internal: \(error)" : nil
  }

  /// A name for the outcome, from a small set.
  var name: String {
    switch result {
    case .success: "success"
    case .failure(let error as TaskError): error.code.name
    case .failure(let error): "\(type(of: error))"
    }
  }

  /// The time on a clock shared with the peer.
  static var now: UInt64 {
    // Use plain numbers, because some builds can't import the module that declares the fields of `timespec`.
    var time = (seconds: 0, nanoseconds: 0)
    withUnsafeMutablePointer(to: &time) { pointer in
      pointer.withMemoryRebound(to: timespec.self, capacity: 1) { _ = clock_gettime(CLOCK_MONOTONIC, $0) }
    }
    return UInt64(time.seconds) * 1_000_000_000 + UInt64(time.nanoseconds)
  }
}

/// Asks the peer, which knows what it sent, whether an outcome is valid.
struct FuzzJudge: Sendable {
  struct Verdict: Decodable, Sendable {
    let mutation: String
    let verdict: String
    let text: String
  }

  let peer: FuzzPeer
  let transport: any Transport

  func verdict(on outcome: FuzzOutcome) async throws -> Verdict {
    var request = HTTPRequest(.post, try peer.control("judge/\(outcome.exchange.number)"))
    request.headers = headers(outcome)
    if case .success(let answer) = outcome.result { request.body = .bytes(answer.body) }
    request.options.timeouts = Timeouts(attempt: .seconds(600))  // the peer may be slow on a busy machine
    do {
      let response = try await transport.send(request)
      return try JSONDecoder().decode(Verdict.self, from: try await response.body.collect())
    } catch {
      throw BenchError("no verdict on exchange \(outcome.exchange.number): \(error)")
    }
  }

  private func headers(_ outcome: FuzzOutcome) -> HTTPHeaders {
    var (status, id, error) = (0, "", "")
    switch outcome.result {
    case .success(let answer): (status, id) = (answer.status.code, Self.plain(answer.id))
    case .failure(let failure): error = "\(outcome.name): \(Self.plain("\(failure)"))"
    }
    let exchange = outcome.exchange
    return [
      "X-Protocol": exchange.line.rawValue, "X-Method": exchange.method.rawValue, "X-Wild": "\(exchange.isWild)",
      "X-After-Wild": "\(outcome.isAfterWild)", "X-Decodes": "\(exchange.decodes)", "X-Started": "\(outcome.started)",
      "X-Status": "\(status)", "X-Answer-Id": id, "X-Error": error,
    ]
  }

  /// Returns up to 500 characters of a text. Replaces characters that can't be sent in a header.
  private static func plain(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.prefix(500).map { (32..<127).contains($0.value) ? $0 : "?" }))
  }
}
