@testable import Errand

extension Server {
  /// Returns when all calls that have ended are written, while the recording goes on.
  func recorded() async { await manager.recorder?.finish() }
}
