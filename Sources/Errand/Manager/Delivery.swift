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

  var isFile: Bool { if case .file = self { true } else { false } }
}
