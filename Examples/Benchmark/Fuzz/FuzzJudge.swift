import Errand
import ErrandFoundation

/// What became of an exchange.
struct FuzzOutcome: Sendable {
  let exchange: FuzzExchange
  /// Whether one before it on the same transport was mutated.
  let isAfterWild: Bool
  let started: UInt64
  let elapsed: Duration
  let result: Result<FuzzAnswer, any Error>

  /// How much longer it may take than its limits: the machine is busy with other things, and slow under a sanitizer.
  static let slack = Duration.seconds(5)

  /// What must not be, whatever the peer did.
  var finding: String? {
    if elapsed > exchange.limit + Self.slack { return "late: it took \(elapsed), and may take \(exchange.limit)" }
    guard case .failure(let error) = result else { return nil }
    if let damage = error as? FuzzDamage { return "a failed download changed the file: \(damage.error)" }
    guard let error = error as? TaskError else { return "no TaskError: \(error)" }
    return error.code == .internal ? "internal: \(error)" : nil
  }

  /// A name for the end it came to, of which there are few.
  var name: String {
    switch result {
    case .success: "success"
    case .failure(let error as TaskError): error.code.name
    case .failure(let error): "\(type(of: error))"
    }
  }

  /// On the clock that the peer has as well.
  static var now: UInt64 {
    // As two numbers: the fields of `timespec` may be of a module that has no name to import.
    var time = (seconds: 0, nanoseconds: 0)
    withUnsafeMutablePointer(to: &time) { pointer in
      pointer.withMemoryRebound(to: timespec.self, capacity: 1) { _ = clock_gettime(CLOCK_MONOTONIC, $0) }
    }
    return UInt64(time.seconds) * 1_000_000_000 + UInt64(time.nanoseconds)
  }
}

/// Asks the peer, who knows what it sent, whether an outcome may be.
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
    request.options.timeouts = Timeouts(attempt: .seconds(600))  // the peer judges on busy machines as well
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

  /// What a header field can carry of a text.
  private static func plain(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.prefix(500).map { (32..<127).contains($0.value) ? $0 : "?" }))
  }
}
