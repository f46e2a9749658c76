import Errand
import ErrandLogging
import ErrandTesting
import InMemoryLogging
import Logging
import Testing

struct LogOutputTests {
  @Test func `sends a server's log lines and echoes to a logger with secrets redacted`() async throws {
    var handler = InMemoryLogHandler()
    handler.logLevel = .trace
    let logger = Logger(label: "shop") { [handler] _ in handler }
    let stub = StubTransport { .status(.noContent, for: $0) }
    let shop = Server("https://shop.test", transport: stub)
    await shop.update {
      $0.log = LogOutput(logger: logger, level: .notice)
      $0.logStyle = .short
      $0.echoesTasks = true
    }
    _ = try await SecretTask().on(shop).run()
    let messages = handler.entries.map { "\($0.message)" }
    #expect(Set(handler.entries.map(\.level)) == [.notice])
    #expect(messages.first?.contains(" SecretTask 0.") == true)
    #expect(messages.contains { $0.contains("call succeeded with 204 No Content") })
    #expect(messages.contains { $0.contains("https://shop.test/secrets?token=") }, "the echo contains the URL")
    #expect(!messages.contains { $0.contains(SecretTask.secret) })
  }
}
