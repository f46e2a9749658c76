import Errand
import ErrandFoundation
import ErrandInspection

func lookAtCalls(of shop: Server, in file: URL) async throws {
  let calls = RecordedCalls()
  await shop.update { $0.recorders.append(calls) }
  _ = try await GetWidget(id: 7).send()
  for call in calls.calls where call.duration > .seconds(1) { print(call) }
  try calls.archive.write(to: file)  // HAR 1.2, with ErrandInspection
}

func writePage(of shop: Server) async throws {
  let log = try HTTPLog()  // prints the URL of the page
  await shop.update { $0.recorders.append(log) }
  _ = try await GetWidget(id: 7).on(shop).send()
  await log.finish()  // returns when everything is written
}

func savePage(of log: HTTPLog, to report: URL) throws {
  try log.save(to: report)  // report.html, and text files in report_files
}

func logCalls(of shop: Server) async throws {
  await shop.update { $0.logOptions = .standard }  // GET https://shop.example/widgets/7 200 OK 0.031 s
  _ = try await GetWidget(id: 7).logging([.standard, .responseHeaders]).send()
}

func showCommand(for url: URL) {
  let request = HTTPRequest(.post, url, headers: [.accept: "application/json"], body: .text("it's"))
  print(request.curlCommand())
  print(request.curlCommand(redaction: nil))  // includes secrets
}

func runPastedLine() async throws -> Data {
  let command = try CurlCommand("curl -L https://shop.example/widgets -H 'Accept: application/json' -d name=Sprocket")
  let data = try await command.task.send()
  return data
}

enum Screen: TaskContextKey { static let defaultValue = "none" }

struct ScreenCounter: TaskObserver {
  let count: @Sendable (String) -> Void
  func observe(_ event: TaskEvent) {
    if case .callStarted = event.moment { count(event.context[Screen.self]) }
  }
}

func annotated(_ shop: Server) async throws -> Widget {
  let widget = try await GetWidget(id: 7).comment("pull to refresh").context(Screen.self, "shelf").on(shop).send()
  return widget
}
