#if os(Linux)
  import Foundation
  import Testing

  @Suite(
    .enabled(if: NetworkNamespace.isPermitted, "network namespaces are not permitted, or ip is not installed"),
    .timeLimit(.minutes(1)))
  struct NetworkChangeTests {
    @Test func `a waiting call resumes within a second of a network change, without polling`() async throws {
      let output = FileManager.default.temporaryDirectory.appendingPathComponent("errand-network-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: output) }
      let code = try await BenchProgram(["network"], output: output).wait()
      let report = try String(contentsOf: output, encoding: .utf8)
      #expect(code == 0, "\(report)")
      #expect(report.contains(#""waits":1,"socketsLeft":0"#), "\(report)")
    }
  }
#endif
