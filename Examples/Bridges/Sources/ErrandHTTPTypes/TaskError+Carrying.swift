import Errand

extension TaskError {
  /// A message that the other library, or this one, cannot carry.
  init(_ code: Code, _ reason: String) {
    self.init(
      code, reason, phase: code == .badResponse ? .finishing : .preparing, isSurelyNotSent: code != .badResponse)
  }
}
