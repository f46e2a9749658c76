import Errand
import ErrandFoundation

/// Exits with 1 if a run failed, and with 2 if it could not start.
///
/// `errand-bench SCENARIO --url URL [--requests N] [--concurrency C] [--file PATH] [--ca PEM]`
@main
struct ErrandBench {
  static func main() async {
    do {
      let options = try BenchOptions(Array(CommandLine.arguments.dropFirst()))
      let report = try await options.scenario.run(options)
      LogOutput.standardOutput.write("\(report)")
      guard !report.failures.isEmpty else { return }
      LogOutput.standardError.write("errand-bench: \(report.failures.joined(separator: "; "))")
      exit(1)
    } catch {
      LogOutput.standardError.write("errand-bench: \(error)")
      exit(2)
    }
  }
}
