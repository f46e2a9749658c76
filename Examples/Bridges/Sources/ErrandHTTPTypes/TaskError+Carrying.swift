import Errand

extension TaskError {
  /// An error for a message that one of the libraries cannot represent.
  init(_ code: Code, _ reason: String) {
    self.init(
      code, reason, phase: code == .badResponse ? .finishing : .preparing, isSurelyNotSent: code != .badResponse)
  }
}
