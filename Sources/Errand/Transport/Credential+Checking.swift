extension Credential {
  /// Throws if the user name or password contains control characters, or if `isBasic` is true and the user name
  /// contains a colon.
  func check(for purpose: String, isBasic: Bool = false) throws(TaskError) {
    // RFC 7617 §2: no control characters, and no colon in the user name for Basic.
    for part in [user, password] where !part.hasNoControls {
      throw refusal("the user name or password for \(purpose) contains a control character, such as a line break")
    }
    if isBasic, user.utf8.contains(UInt8(ascii: ":")) {
      throw refusal("the user name for \(purpose) contains a colon, which Basic authentication does not allow")
    }
  }

  private func refusal(_ reason: String) -> TaskError {
    TaskError(.badRequest, reason, phase: .preparing, wasNotSent: true)
  }
}
