#if os(Linux)
  import Foundation

  /// A network namespace, which `errand-bench` creates with `unshare`.
  enum NetworkNamespace {
    /// Whether the process may create one. If not, the tests that need it are skipped by name.
    static let isPermitted = Shell.runAndBlock("unshare -rnm ip link set lo up 2> /dev/null") == 0
  }
#endif
