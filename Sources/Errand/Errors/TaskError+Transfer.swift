extension TaskError {
  /// The error of reading or sending a body, as this library's; cancellations and the app's own errors stay.
  package static func ofTransfer(_ error: any Error) -> any Error {
    switch error {
    case HTTPBody.Failure.consumed:
      TaskError(
        .bodyNotReplayable,
        "the body can only be read once, and was read before: use HTTPBody.stream with a closure that makes it again",
        phase: .sending, underlying: error)
    case HTTPBody.Failure.unreadable(let path):
      TaskError(
        .unreadableBody, "\(path) is not a plain file that can be read", phase: .preparing, underlying: error,
        isSurelyNotSent: true)
    case is HTTPBodyConsumedError:
      TaskError(
        .bodyConsumed, "the rest of the body was given up when a loop over it was left, which ended the transfer",
        phase: .receiving, underlying: error)
    default: error
    }
  }

  /// The error of a body that is read while it is sent. Its maker may have failed before sending anything of its own:
  /// that says nothing about this request.
  package static func ofUpload(_ error: any Error) -> any Error {
    guard var error = ofTransfer(error) as? TaskError else { return error }
    error.isSurelyNotSent = false
    return error
  }
}

extension HTTPBody {
  /// The number of bytes; nil where it is not known.
  /// Throws ``TaskError`` with code `.unreadableBody` for a file that cannot be read.
  func checkedLength() throws -> Int64? {
    do {
      return try length()
    } catch {
      throw TaskError.ofTransfer(error)
    }
  }
}
