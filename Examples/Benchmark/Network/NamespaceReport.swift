import ErrandFoundation

/// The report of a scenario that this program ran in its own network namespace.
struct NamespaceReport: BenchReport {
  let description: String
  let failures: [String]

  /// Runs a scenario and waits for it.
  ///
  /// - Parameters:
  ///   - script: A shell script that prepares the namespace and ends with `exec "$@"`.
  ///   - folder: A folder for the script, as `$0`.
  ///   - scenario: The scenario.
  ///   - options: The scenario's options.
  init(script: String, folder: String, scenario: String, _ options: [String]) throws {
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
    let process = try ChildProcess(
      ["/usr/bin/env", "unshare", "-rnm", "/bin/sh", "-c", script, folder, program, scenario] + options)
    let output = process.allOutput()
    let code = process.wait()
    guard !output.isEmpty else {
      throw BenchError("the namespace was not created, or the run in it had no result (exit code \(code))")
    }
    description = output.filter { !$0.isNewline }
    failures = code == 0 ? [] : ["the run in the namespace failed (exit code \(code))"]
  }
}
