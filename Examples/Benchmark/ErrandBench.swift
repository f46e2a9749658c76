import Errand
import Foundation

/// Exits with 1 when a run was no good, 2 when there was none.
///
/// `errand-bench SCENARIO --url URL [--requests N] [--concurrency C] [--file PATH] [--ca PEM]`
@main
struct ErrandBench {
  static func main() async {
    do {
      let options = try BenchOptions(Array(CommandLine.arguments.dropFirst()))
      let report = try await options.scenario.run(options)
      FileHandle.standardOutput.write(Data("\(report)\n".utf8))
      guard !report.failures.isEmpty else { return }
      FileHandle.standardError.write(Data("errand-bench: \(report.failures.joined(separator: "; "))\n".utf8))
      exit(1)
    } catch {
      FileHandle.standardError.write(Data("errand-bench: \(error)\n".utf8))
      exit(2)
    }
  }
}
