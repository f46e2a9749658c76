#if os(Linux)
  import Foundation

  /// The Python interpreter that runs third-party servers.
  enum Python {
    /// Returns the interpreter in `.build/servers`, where `.ci/run` installs packages, or else the system's
    /// interpreter. Returns `nil` if neither has the packages.
    static func interpreter(with packages: String) -> String? {
      let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let own = package.appendingPathComponent(".build/servers/bin/python3").path
      return (LocalServer.paths(of: own) + LocalServer.paths(of: "python3")).first {
        Shell.runAndBlock("'\($0)' -c 'import \(packages)' 2> /dev/null") == 0
      }
    }
  }
#endif
