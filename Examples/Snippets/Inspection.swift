import Errand

func lookAtCalls(of shop: Server) async throws {
  let calls = RecordedCalls()
  await shop.update { $0.recorders.append(calls) }
  _ = try await GetWidget(id: 7).download()
  for call in calls.calls where call.duration > .seconds(1) { print(call) }
}
