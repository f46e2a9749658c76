extension Credential {
  /// Throws if the user name or password contains control characters, or if `isBasic` is true and the user name
  /// contains a colon.
  func check(for purpose: String, isBasic: Bool = false) throws(TaskError) {
    // RFC 7617 §2: no control characters, and no colon in the user name for Basic.
    for part in [user, password] where !part.hasNoControls {
      throw refusal("the user or the password for \(purpose) contains a line break, a NUL or another control character")
    }
    if isBasic, user.utf8.contains(UInt8(ascii: ":")) {
      throw refusal("the user for \(purpose) contains a colon, which would start the password")
    }
  }

  private func refusal(_ reason: String) -> TaskError {
    TaskError(.badRequest, reason, phase: .preparing, wasNotSent: true)
  }
}
