package import Foundation

/// What becomes of the body of an accepted response.
package enum Delivery: Sendable {
  /// Read and forgotten.
  case discarded
  /// Collected in memory.
  case memory
  /// Written to a file, which is replaced once the body is complete.
  case file(URL)
  /// Left to the caller, as it comes.
  case stream

  /// Whether a body goes no further than the call's own memory.
  var isInMemory: Bool {
    switch self {
    case .discarded, .memory: true
    case .file, .stream: false
    }
  }

  /// Whether the call gives a body, so that a response without the whole of it will not do.
  var wantsBody: Bool {
    switch self {
    case .memory, .file: true
    case .discarded, .stream: false
    }
  }
}
