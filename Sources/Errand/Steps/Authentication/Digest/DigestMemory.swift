import ErrandFoundation

/// The challenges of a server's origins and how often each nonce has been used. Limited in size. Does no I/O.
struct DigestMemory {
  struct Owner: Hashable {
    let origin: Origin
    let credential: Credential
  }

  private enum Standing {
    /// A request has used the session, with an unknown result.
    case tried
    /// The session authenticates requests before they are challenged.
    case known
    /// The session was rejected or replaced. It is still counted, because other requests may be using it.
    case over
  }

  private struct Entry {
    let owner: Owner
    var session: DigestSession
    var standing: Standing
  }

  /// The maximum number of sessions. Rejected and replaced sessions are removed first.
  static let limit = 64

  /// The entries, with the most recently used session last.
  private var entries: [Entry] = []

  /// Returns a session that can authenticate a request for `target`, or `nil`. Counts the use.
  mutating func known(for target: String, _ owner: Owner, hasBodyInMemory: Bool) -> DigestSession? {
    let index = entries.lastIndex { entry in
      guard entry.standing == .known, entry.owner == owner else { return false }
      let challenge = entry.session.challenge
      return (hasBodyInMemory || challenge.protection != .body) && challenge.covers(target)
    }
    return index.map { use($0) }
  }

  /// Returns the session that answers a challenge. Counts the use. Challenges with the same nonce share a session.
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

  mutating func keep(_ challenge: DigestChallenge, _ owner: Owner, clientNonce: @autoclosure () -> String) {
    if let index = self.index(of: challenge, owner) {
      entries[index].standing = .known
    } else {
      add(DigestSession(challenge, clientNonce: clientNonce()), owner, .known)
    }
  }

  /// Records that the server accepted a session. The response may contain the next nonce (RFC 7616 §3.5).
  mutating func accepted(_ session: DigestSession, _ owner: Owner, next: String?) {
    let index = self.index(of: session.challenge, owner) ?? add(session, owner, .tried)
    // A session that covers no target is only used to answer a challenge.
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
