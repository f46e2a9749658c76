import Errand
import ErrandLogging
import ErrandTesting
import InMemoryLogging
import Logging

/// A shop with a mock server and a manual clock whose calls are logged to memory.
struct LoggedShop {
  /// A logged message and its metadata as text.
  struct Line: Equatable {
    var level: Logger.Level
    var message: String
    var metadata: [String: String]
  }

  let mock: MockServer
  let clock = ManualClock()
  let server: Server
  let events = EventRecorder()
  private let handler: InMemoryLogHandler

  init(level: Logger.Level = .info, redaction: Redaction = .standard) async throws {
    var handler = InMemoryLogHandler()
    handler.logLevel = .trace
    self.handler = handler
    mock = try MockServer()
    server = Server(Remote(mock.url), manager: TaskManager(clock: CallClock(clock)))
    let observers: [any TaskObserver] = [InlineObserver(CallLogger(logger, level: level)), events]
    await server.update {
      $0.observers = observers
      $0.redaction = redaction
    }
  }

  var logger: Logger { Logger(label: "shop") { [handler] _ in handler } }

  var lines: [Line] {
    handler.entries.map { Line(level: $0.level, message: "\($0.message)", metadata: $0.metadata.mapValues { "\($0)" }) }
  }

  /// The ID of the only call.
  var call: String { "\(events.events.first?.call ?? 0)" }
}
