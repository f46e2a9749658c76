import Errand
import ErrandFoundation

func replayOnce(from file: URL) async throws -> Widget {
  let recorded = Server(remote: "https://shop.example", transport: try .replay(from: file, recording: .once))
  let widget = try await recorded.send(GetWidget(id: 7))
  return widget
}

func recordMissing(in file: URL) async throws {
  let transport = try ReplayTransport(from: file, options: ReplayOptions(recording: .missing))
  _ = try await GetWidget(id: 7).replay(from: transport).send()
  try await transport.finish()  // returns when everything has been written; throws if that failed
}

func optionsOfReplay() -> ReplayOptions {
  var options = ReplayOptions(recording: .once)
  var hidden = Redaction.standard
  hidden.endings.remove("token")  // {"token": "word"} is not redacted
  options.redaction = hidden
  options.binaryTypes = ["application/x-protobuf"]  // binary data that is not searched for secrets
  options.matching = [.method, .path, .header("Accept"), .body]
  options.order = .asRecorded  // requests must have the recorded order
  options.whenPlayed = .none  // each response is played only once
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
