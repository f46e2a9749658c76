import Errand

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ServerConfiguration {
  /// True for the origin of the remote, and for those that are trusted.
  func hasHome(at origin: Origin) -> Bool {
    ([remote.address] + trustedOrigins).contains { URL(string: $0).flatMap { Origin($0) } == origin }
  }
}
