import Errand
import ErrandTesting
import Foundation
import Testing

/// Draws sixty faults from a seed. A reader then names their causes from the printed errors alone:
///
///     ERRAND_FAULTS=/tmp/faults ERRAND_FAULT_SEED=7 swift test --filter FaultDrawTests
///
/// writes `errors.txt`, with a numbered line per fault, and `truth.txt`, with the causes, to that folder. The faults
/// come from `DiagnosisTests`, from the network, and from `tls.txt`, if `SecureFaultDrawTests` has left that file in
/// the folder.
@Suite(
  .balancedEvents, .timeLimit(.minutes(3)), .enabled(if: ProcessInfo.processInfo.environment["ERRAND_FAULTS"] != nil))
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

  /// Returns the TLS faults left in the folder, with a cause and an error per line.
  private static func secure(in folder: URL) throws -> [(cause: String, error: String)] {
    let file = folder.appendingPathComponent("tls.txt")
    guard FileManager.default.fileExists(atPath: file.path) else { return [] }
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line in
      let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
      return parts.count == 2 ? (parts[0], parts[1]) : nil
    }
  }

  @Test func `draws sixty faults and writes their errors and causes`() async throws {
    let environment = ProcessInfo.processInfo.environment
    let folder = URL(fileURLWithPath: environment["ERRAND_FAULTS"] ?? "")
    var chance = SeededGenerator(seed: UInt64(environment["ERRAND_FAULT_SEED"] ?? "") ?? 1)
    let all =
      DiagnosisTests.statuses + DiagnosisTests.bodies + DiagnosisTests.limits + DiagnosisTests.settings + Self.network
    var reported = try Self.secure(in: folder)
    for fault in all {
      let shop = try Shop(limits: fault.limits) { fault.configure(&$0) }
      if let answer = fault.answer { shop.mock.route("/*", answer: answer) }
      do {
        try await fault.run(shop.server, shop.url("x"))
        Issue.record("\(fault) did not fail")
      } catch {
        reported.append(("\(fault.description); told as \((error as? TaskError)?.diagnosis?.name ?? "-")", "\(error)"))
      }
    }
    // Every fault appears once before any repeats.
    let drawn = (reported.shuffled(using: &chance) + reported.shuffled(using: &chance)).prefix(60).shuffled(
      using: &chance)
    let errors = drawn.enumerated().map { "\($0 + 1). \($1.error)" }
    let truth = drawn.enumerated().map { "\($0 + 1). \($1.cause)" }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data((errors.joined(separator: "\n") + "\n").utf8).write(to: folder.appendingPathComponent("errors.txt"))
    try Data((truth.joined(separator: "\n") + "\n").utf8).write(to: folder.appendingPathComponent("truth.txt"))
    #expect(errors.count == 60)
  }
}
