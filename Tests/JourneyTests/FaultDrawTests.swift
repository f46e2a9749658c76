import Errand
import ErrandTesting
import Foundation
import Testing

/// Sixty faults drawn by a seed, for a reader who is to name the causes from the printed errors alone:
///
///     ERRAND_FAULTS=/tmp/faults ERRAND_FAULT_SEED=7 swift test --filter FaultDrawTests
///
/// writes `errors.txt` to that folder, a numbered line a fault, and `truth.txt` with the causes. The faults are those of
/// `DiagnosisTests`, and some of the network.
@Suite(.timeLimit(.minutes(10)), .enabled(if: ProcessInfo.processInfo.environment["ERRAND_FAULTS"] != nil))
struct FaultDrawTests {
  private static let network: [DiagnosisTests.Fault] = [
    .init(
      description: "cannotResolveHost",
      run: { server, _ in try await Self.get("https://shop.invalid/widgets/7", server) }),
    .init(
      description: "connectionRefused",
      run: { server, _ in try await Self.get("https://127.0.0.1:1/widgets/7", server) }),
  ]

  private static func get(_ address: String, _ server: Server) async throws {
    let url = try #require(URL(string: address))
    _ = try await URLTask(url).on(server).retry(.never).run()
  }

  @Test func `sixty faults are drawn, and their errors and causes written`() async throws {
    let environment = ProcessInfo.processInfo.environment
    let folder = URL(fileURLWithPath: environment["ERRAND_FAULTS"] ?? "")
    var chance = SeededGenerator(seed: UInt64(environment["ERRAND_FAULT_SEED"] ?? "") ?? 1)
    let all =
      DiagnosisTests.statuses + DiagnosisTests.bodies + DiagnosisTests.limits + DiagnosisTests.settings + Self.network
    // Each once before any comes again.
    let drawn = (all.shuffled(using: &chance) + all.shuffled(using: &chance)).prefix(60).shuffled(using: &chance)
    var (errors, truth): ([String], [String]) = ([], [])
    for (number, fault) in drawn.enumerated() {
      let shop = try Shop(limits: fault.limits) { fault.configure(&$0) }
      if let answer = fault.answer { shop.mock.route("/*", answer: answer) }
      do {
        try await fault.run(shop.server, shop.url("x"))
        Issue.record("\(fault) did not fail")
      } catch {
        errors.append("\(number + 1). \(error)")
        truth.append("\(number + 1). \(fault.description); told as \((error as? TaskError)?.diagnosis?.name ?? "-")")
      }
    }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data((errors.joined(separator: "\n") + "\n").utf8).write(to: folder.appendingPathComponent("errors.txt"))
    try Data((truth.joined(separator: "\n") + "\n").utf8).write(to: folder.appendingPathComponent("truth.txt"))
    #expect(errors.count == 60)
  }
}
