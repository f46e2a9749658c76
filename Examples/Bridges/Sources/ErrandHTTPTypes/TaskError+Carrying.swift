import Errand

extension TaskError {
  /// Creates an error for a message that one of the libraries can't represent.
  init(_ code: Code, _ reason: String) {
    self.init(
      code, reason, phase: code == .badResponse ? .finishing : .preparing, wasNotSent: code != .badResponse)
  }
}
