import ErrandFoundation

/// The challenges of a server's origins, and how often each nonce was used; pure, and bounded.
struct DigestMemory {
  /// The parties of a session: a credential is for one origin at a time.
  struct Owner: Hashable {
    let origin: Origin
    let credential: Credential
  }

  private enum Standing {
    /// A request has answered it, and it is not known whether that was accepted.
    case tried
    /// It signs requests in before they are challenged.
    case known
    /// It was refused, or has a successor. Its count goes on, for others may still have it.
    case over
  }

  private struct Entry {
    let owner: Owner
    var session: DigestSession
    var standing: Standing
  }

  /// The most sessions that are kept. Those that are over go first.
  static let limit = 64

  /// The last used is the last.
  private var entries: [Entry] = []

  /// The session that signs in a request for a target, its count one higher; nil where none is known.
  mutating func known(for target: String, _ owner: Owner, hasBodyInMemory: Bool) -> DigestSession? {
    let index = entries.lastIndex { entry in
      guard entry.standing == .known, entry.owner == owner else { return false }
      let challenge = entry.session.challenge
      return (hasBodyInMemory || challenge.protection != .body) && challenge.covers(target)
    }
    return index.map { use($0) }
  }

  /// The session that answers a challenge, its count one higher: that of its nonce where there is one, for the same nonce may be in
  /// the challenges of several requests.
  mutating func session(for challenge: DigestChallenge, _ owner: Owner, clientNonce: @autoclosure () -> String)
    -> DigestSession
  {
    if let index = self.index(of: challenge, owner) {
      entries[index].standing = .tried
      return use(index)
    }
    add(DigestSession(challenge, clientNonce: clientNonce()), owner, .tried)
    return use(entries.count - 1)
  }

  /// A challenge that is not answered now, and may be with the next request.
  mutating func keep(_ challenge: DigestChallenge, _ owner: Owner, clientNonce: @autoclosure () -> String) {
    if let index = self.index(of: challenge, owner) {
      entries[index].standing = .known
    } else {
      add(DigestSession(challenge, clientNonce: clientNonce()), owner, .known)
    }
  }

  /// A server has accepted a session, and perhaps named the next nonce (RFC 7616 §3.5).
  mutating func accepted(_ session: DigestSession, _ owner: Owner, next: String?) {
    let index = self.index(of: session.challenge, owner) ?? add(session, owner, .tried)
    // One that covers nothing signs no request in before it is challenged.
    let standing: Standing = session.challenge.domain == [] ? .over : .known
    if entries[index].standing == .tried { entries[index].standing = standing }
    guard let next, next != session.challenge.nonce else { return }
    entries[index].standing = .over
    var successor = session
    successor.challenge.nonce = next
    successor.count = 0
    guard self.index(of: successor.challenge, owner) == nil else { return }
    add(successor, owner, standing)
  }

  /// A server has refused a session.
  mutating func refused(_ session: DigestSession, _ owner: Owner) {
    if let index = self.index(of: session.challenge, owner) { entries[index].standing = .over }
  }

  private func index(of challenge: DigestChallenge, _ owner: Owner) -> Int? {
    entries.lastIndex { entry in
      let own = entry.session.challenge
      return own.nonce == challenge.nonce && own.realm == challenge.realm && own.algorithm == challenge.algorithm
        && own.protection == challenge.protection && entry.owner == owner
    }
  }

  private mutating func use(_ index: Int) -> DigestSession {
    var entry = entries.remove(at: index)
    entry.session.count &+= 1
    entries.append(entry)
    return entry.session
  }

  @discardableResult
  private mutating func add(_ session: DigestSession, _ owner: Owner, _ standing: Standing) -> Int {
    if entries.count >= Self.limit { entries.remove(at: entries.firstIndex { $0.standing == .over } ?? 0) }
    entries.append(Entry(owner: owner, session: session, standing: standing))
    return entries.count - 1
  }
}
