import ErrandFoundation

final class DigestStore: Sendable {
  fileprivate let memory = Lock(DigestMemory())
}

/// A request with a Digest credential, which answers challenges (RFC 7616).
///
/// The first request is sent with its body. It uses a known session if there is one, and no credentials otherwise. A
/// 401 is answered once, and a second time if the nonce has expired in the meantime.
final class DigestExchange: Sendable {
  enum Verdict: Equatable {
    /// The response is returned to the caller.
    case stands
    /// The 401 is returned to the caller because the challenge can't be answered.
    case refused(String)
    /// The request must be resent with credentials.
    case again
  }

  private struct State {
    var challenge: DigestChallenge?
    var session: DigestSession?
    var answers = 0
    var verdict = Verdict.stands
  }

  private let store: DigestStore
  private let owner: DigestMemory.Owner
  private let hasBodyInMemory: Bool
  private let state = Lock(State())

  /// Returns `nil` if the request doesn't use Digest: it has no Digest credential, sets its own `Authorization`, or has
  /// a user name in its URL.
  init?(_ request: HTTPRequest, _ store: DigestStore) {
    guard let credential = request.options.digest, !request.headers.contains(.authorization),
      request.url.user(percentEncoded: true) == nil, let origin = Origin(request.url)
    else { return nil }
    self.store = store
    owner = DigestMemory.Owner(origin: origin, credential: credential)
    hasBodyInMemory = request.body.isEmpty || request.body.data != nil
  }

  /// Adds credentials to the next request. Returns `false` if no challenge is known.
  func sign(_ request: inout HTTPRequest) -> Bool {
    let (target, challenge) = (request.url.requestTarget, state.withLock { $0.challenge })
    let session = store.memory.withLock { memory in
      challenge.map { memory.session(for: $0, owner, clientNonce: CallRandom.system.key()) }
        ?? memory.known(for: target, owner, hasBodyInMemory: hasBodyInMemory)
    }
    state.withLock { $0.session = session }
    guard let session else { return false }
    let answer = DigestAnswer(
      session: session, credential: owner.credential, method: request.method, target: target,
      body: request.body.data ?? Data())
    request.headers[.authorization] = answer.authorization
    return true
  }

  var verdict: Verdict { state.withLock { $0.verdict } }

  /// Stores the verdict on a response and shares the response's challenge with other calls.
  func learn(from response: HTTPResponse) {
    let verdict = verdict(on: response)
    state.withLock { $0.verdict = verdict }
  }

  private func verdict(on response: HTTPResponse) -> Verdict {
    let (session, answers) = state.withLock { ($0.session, $0.answers) }
    guard response.status == .unauthorized else {
      if let session { store.memory.withLock { $0.accepted(session, owner, next: response.headers.nextNonce) } }
      return .stands
    }
    if let session { store.memory.withLock { $0.refused(session, owner) } }
    switch DigestChallenge.best(in: response.headers, of: owner.origin, hasBodyInMemory: hasBodyInMemory) {
    case nil: return .stands
    case .failure(let refusal): return .refused(refusal.reason)
    case .success(let challenge):
      guard answers == 0 || (answers == 1 && challenge.isStale) else { return .stands }
      state.withLock { state in
        state.challenge = challenge
        state.answers += 1
      }
      // Don't share the second challenge before it is accepted, because the server may accept its nonce only once.
      if answers == 0 { store.memory.withLock { $0.keep(challenge, owner, clientNonce: CallRandom.system.key()) } }
      return .again
    }
  }
}

extension HTTPHeaders {
  /// The nonce for the next request (RFC 7616 §3.5), if any.
  fileprivate var nextNonce: String? {
    guard let info = self["Authentication-Info"] else { return nil }
    let read: HTTPHeaders = [.wwwAuthenticate: "Digest \(info)"]
    let nonce = read.challenges.first?["nextnonce"] ?? ""
    let isUsable =
      !nonce.isEmpty && nonce.utf8.count <= DigestChallenge.largestSize && nonce.hasNoControls
    return isUsable ? nonce : nil
  }
}
