import Errand

/// A failed step.
struct TourFailure: Error, CustomStringConvertible {
  let step: String
  let error: any Error

  var description: String {
    var lines = ["The step '\(step)' failed: \(error)"]
    guard let error = error as? TaskError else { return lines[0] }
    if !error.record.entries.isEmpty { lines.append(error.record.description) }
    return lines.joined(separator: "\n")
  }
}

/// An unexpected result.
struct Unexpected: Error, CustomStringConvertible {
  let description: String
}

/// Throws ``Unexpected`` unless the condition holds.
func check(_ condition: Bool, _ complaint: @autoclosure () -> String) throws {
  if !condition { throw Unexpected(description: complaint()) }
}
