#if os(Linux)
  import Foundation

  /// The Python interpreter that runs third-party servers.
  enum Python {
    /// The interpreter of `.build/servers`, where `.ci/run` installs packages, or the system's, if it has the
    /// packages.
    static func interpreter(with packages: String) -> String? {
      let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let own = package.appendingPathComponent(".build/servers/bin/python3").path
      return (LocalServer.paths(of: own) + LocalServer.paths(of: "python3")).first {
        Shell.run("'\($0)' -c 'import \(packages)' 2> /dev/null") == 0
      }
    }
  }
#endif
