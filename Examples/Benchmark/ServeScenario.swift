import Errand
import ErrandTesting
import Foundation

/// The other side of ``CrowdScenario``: a server in a process of its own, until its standard input ends.
struct ServeScenario: Scenario {
  let isEmbedded = true

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    try ProcessFootprint.raiseDescriptorLimit(toAtLeast: 4096)
    let remote = try MockServer(keeping: 0)
    remote.route(.get, "/now", answer: .json(#"{"id":7,"name":"Widget"}"#))
    remote.route(.get, "/later", answer: .text("later").after(.milliseconds(1500)))
    remote.route(.get, "/stalled", answer: .text("never").bodyAfter(.seconds(86_400)))
    FileHandle.standardOutput.write(Data("\(remote.url)\n".utf8))
    _ = FileHandle.standardInput.readDataToEndOfFile()
    remote.stop()
    return Served()
  }

  private struct Served: BenchReport {
    let description = #"{"client":"errand","scenario":"serve"}"#
  }
}
