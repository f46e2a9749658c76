import Errand
import Foundation

/// `errand-bench SCENARIO --url URL [--requests N] [--concurrency C] [--file PATH] [--ca PEM]`
@main
struct ErrandBench {
  static func main() async {
    do {
      let options = try BenchOptions(Array(CommandLine.arguments.dropFirst()))
      FileHandle.standardOutput.write(Data("\(try await options.scenario.run(options))\n".utf8))
    } catch {
      FileHandle.standardError.write(Data("errand-bench: \(error)\n".utf8))
      exit(2)
    }
  }
}
