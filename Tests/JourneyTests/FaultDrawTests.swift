import Errand
import ErrandTesting
import Foundation
import Testing

/// Draws sixty faults from a seed. A reader then names their causes from the printed errors alone:
///
///     ERRAND_FAULTS=/tmp/faults ERRAND_FAULT_SEED=7 swift test --filter FaultDrawTests
///
/// writes `errors.txt`, with a numbered line per fault, and `truth.txt`, with the causes, to that folder, or to a
/// temporary folder if `ERRAND_FAULTS` is not set. The faults come from `DiagnosisTests`, and from `tls.txt` if
/// `SecureFaultDrawTests` has left that file in the folder.
@Suite(.balancedEvents, .timeLimit(.minutes(3)))
struct FaultDrawTests {
  /// Returns the TLS faults left in the folder, with a cause and an error per line.
  private static func secure(in folder: URL) throws -> [(cause: String, error: String)] {
    let file = folder.appendingPathComponent("tls.txt")
    guard FileManager.default.fileExists(atPath: file.path) else { return [] }
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line in
      let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
      return parts.count == 2 ? (parts[0], parts[1]) : nil
    }
  }

  /// Draws sixty elements in random order. Every element appears before any repeats.
  private static func draw<Element>(from all: [Element], seed: UInt64) -> [Element] {
    var chance = SeededGenerator(seed: seed)
    let shuffled = all.shuffled(using: &chance) + all.shuffled(using: &chance)
    return shuffled.prefix(60).shuffled(using: &chance)
  }

  private static func write(_ lines: [String], to file: URL) throws {
    let numbered = lines.enumerated().map { "\($0 + 1). \($1)\n" }
    try Data(numbered.joined().utf8).write(to: file)
  }

  @Test func `draws 60 faults and writes their errors and causes`() async throws {
    let environment = ProcessInfo.processInfo.environment
    let name = "faults-\(UUID().uuidString)"
    let temporary = FileManager.default.temporaryDirectory.appendingPathComponent(name)
    defer { try? FileManager.default.removeItem(at: temporary) }
    let folder = environment["ERRAND_FAULTS"].map { URL(fileURLWithPath: $0) } ?? temporary
    var reported = try Self.secure(in: folder)
    for fault in DiagnosisTests.faults {
      let shop = try Shop(limits: fault.limits) { fault.configure(&$0) }
      if let answer = fault.answer { shop.mock.route("/*", answer: answer) }
      do {
        try await fault.run(shop.server, shop.url("x"))
        Issue.record("\(fault) did not fail")
      } catch {
        reported.append(("\(fault.description); told as \((error as? TaskError)?.diagnosis?.name ?? "-")", "\(error)"))
      }
    }
    let seed = UInt64(environment["ERRAND_FAULT_SEED"] ?? "") ?? 1
    let drawn = Self.draw(from: reported, seed: seed)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let files = ["errors.txt", "truth.txt"].map { folder.appendingPathComponent($0) }
    try Self.write(drawn.map(\.error), to: files[0])
    try Self.write(drawn.map(\.cause), to: files[1])

    // An error of several lines would break the numbering.
    let lines = try files.map { try String(contentsOf: $0, encoding: .utf8).split(separator: "\n") }
    #expect(lines[0].count == 60 && lines[1].count == 60)
    for (error, cause) in zip(lines[0], lines[1]) {
      #expect(reported.contains { error.hasSuffix(". \($0.error)") && cause.hasSuffix(". \($0.cause)") })
    }
    if reported.count <= 60 {
      for fault in DiagnosisTests.faults {
        let cause = "\(fault); told as \(fault)"
        #expect(lines[1].contains { $0.hasSuffix(" \(cause)") }, "not drawn, or has another diagnosis: \(fault)")
      }
    }
  }

  @Test func `a seed always draws the same faults in the same order and every fault before any repeats`() {
    let drawn = Self.draw(from: Array(1...50), seed: 7)
    #expect(drawn == Self.draw(from: Array(1...50), seed: 7))
    #expect(drawn != Self.draw(from: Array(1...50), seed: 8))
    #expect(drawn.count == 60 && Set(drawn) == Set(1...50))
    #expect(Set(Self.draw(from: Array(1...90), seed: 7)).count == 60)
  }
}
