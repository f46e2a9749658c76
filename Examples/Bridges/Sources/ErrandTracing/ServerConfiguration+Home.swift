import Errand

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ServerConfiguration {
  /// Whether `origin` is the remote's origin or a trusted one.
  func hasHome(at origin: Origin) -> Bool {
    ([remote.address] + trustedOrigins).contains { URL(string: $0).flatMap { Origin($0) } == origin }
  }
}
