extension Credential {
  /// Throws what would let it write a line of its own, or would be read as another credential.
  func check(for purpose: String, isBasic: Bool = false) throws(TaskError) {
    // RFC 7617 §2: no control characters, and in Basic no colon in the user.
    for part in [user, password] where !part.hasNoControls {
      throw refusal("the user or the password for \(purpose) has a line break, a NUL or another control character")
    }
    if isBasic, user.utf8.contains(UInt8(ascii: ":")) {
      throw refusal("the user for \(purpose) has a colon, at which its password would begin")
    }
  }

  private func refusal(_ reason: String) -> TaskError {
    TaskError(.badRequest, reason, phase: .preparing, isSurelyNotSent: true)
  }
}
