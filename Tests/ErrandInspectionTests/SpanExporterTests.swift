import Testing

@testable import Errand
@testable import ErrandInspection

@Suite(.timeLimit(.minutes(1))) struct SpanExporterTests {
  @Test func `the activity of the process excludes an exporter's calls`() {
    let (counted, exporting) = (TaskManager(), SpanExporter.manager())
    #expect(ActivityRegistry.all.registries.contains { $0 === counted.calls })
    #expect(!ActivityRegistry.all.registries.contains { $0 === exporting.calls })
  }
}
