import Errand
import ErrandFoundation
import ErrandInspection

func replayOnce(from file: URL) async throws -> Widget {
  let recorded = Server("https://shop.example", transport: try .replay(from: file, recording: .once))
  let widget = try await recorded.send(GetWidget(id: 7))
  return widget
}

func recordMissing(in file: URL) async throws {
  let transport = try ReplayTransport(from: file, options: ReplayOptions(recording: .missing))
  _ = try await GetWidget(id: 7).replay(from: transport).send()
  try await transport.finish()  // waits until the file is written
}

func optionsOfReplay() -> ReplayOptions {
  var options = ReplayOptions(recording: .once)
  var hidden = Redaction.standard
  hidden.endings.remove("token")  // keeps {"token": "word"}
  options.redaction = hidden
  options.binaryTypes = ["application/x-protobuf"]  // not searched for secrets
  options.matching = [.method, .path, .header("Accept"), .body]
  options.order = .asRecorded  // requests must arrive in this order
  options.whenPlayed = .none  // replay each response only once
  return options
}

func replayOthers(of shop: Server, export: URL) async throws -> [Server] {
  let calls = RecordedCalls()
  await shop.update { $0.recorders.append(calls) }
  _ = try await GetWidget(id: 7).send()
  let replayed = shop.replaying(.replay(from: calls))
  let archive = try HTTPArchive(data: Data(contentsOf: export))
  let browsed = shop.replaying(.replay(from: archive))
  return [replayed, browsed]
}
