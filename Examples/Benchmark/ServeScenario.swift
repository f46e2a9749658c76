import Errand
import ErrandTesting
import ErrandFoundation

/// The peer of ``CrowdScenario``: a server in its own process, which runs until its standard input ends.
struct ServeScenario: Scenario {
  let isEmbedded = true

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    try ProcessFootprint.raiseDescriptorLimit(toAtLeast: 4096)
    let remote = try MockServer(keeping: 0)
    remote.route(.get, "/now", answer: .json(#"{"id":7,"name":"Widget"}"#))
    remote.route(.get, "/later", answer: .text("later").after(.milliseconds(1500)))
    remote.route(.get, "/stalled", answer: .text("never").bodyAfter(.seconds(86_400)))
    LogOutput.standardOutput.write("\(remote.url)")
    var byte: UInt8 = 0
    while read(STDIN_FILENO, &byte, 1) > 0 {}
    remote.stop()
    return Served()
  }

  private struct Served: BenchReport {
    let description = #"{"client":"errand","scenario":"serve"}"#
  }
}
