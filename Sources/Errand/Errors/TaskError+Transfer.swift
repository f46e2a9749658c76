extension TaskError {
  /// Converts an error from reading or sending a body to a ``TaskError``. Returns cancellations and other errors
  /// unchanged.
  package static func ofTransfer(_ error: any Error) -> any Error {
    switch error {
    case HTTPBody.Failure.consumed:
      TaskError(
        .bodyNotReplayable,
        "the body can only be read once and was already read: use HTTPBody.stream with a closure that recreates it",
        phase: .sending, underlying: error)
    case HTTPBody.Failure.unreadable(let path):
      TaskError(
        .unreadableBody, "\(path) is not a readable regular file", phase: .preparing, underlying: error,
        wasNotSent: true)
    case is HTTPBodyConsumedError:
      TaskError(
        .bodyConsumed, "the body can only be read once, and a loop or a step has already begun to read it",
        phase: .receiving, underlying: error)
    default: error
    }
  }

  /// Converts an error that a request body throws during the upload. Clears `wasNotSent`, because it may describe a
  /// request made by the body's source.
  package static func ofUpload(_ error: any Error) -> any Error {
    sent(ofTransfer(error))
  }

  /// Returns an error, no longer marked as unsent. Use it if an earlier request of the same call was sent.
  static func sent(_ error: any Error) -> any Error {
    guard var error = error as? TaskError, error.wasNotSent else { return error }
    error.wasNotSent = false
    return error
  }
}

extension HTTPBody {
  /// Returns the number of bytes, or `nil` if unknown. Throws ``TaskError`` with code `.unreadableBody` if a file can't
  /// be read.
  package func checkedLength() throws -> Int64? {
    do {
      return try length()
    } catch {
      throw TaskError.ofTransfer(error)
    }
  }
}
