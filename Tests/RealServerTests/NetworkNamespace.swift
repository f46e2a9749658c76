#if os(Linux)
  import Foundation

  /// A network namespace, which `errand-bench` creates with `unshare`.
  enum NetworkNamespace {
    /// Whether the tests must be able to create one. In CI, a missing permission fails the test instead of skipping it.
    static let isExpected =
      ProcessInfo.processInfo.environment["CI"] == "true"
      || Shell.run("unshare -rnm ip link set lo up 2> /dev/null") == 0
  }
#endif
