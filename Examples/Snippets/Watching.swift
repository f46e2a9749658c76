import Errand
import Foundation

struct SlowCalls: TaskObserver {
  func observe(_ event: TaskEvent) {
    if case .callEnded(let outcome) = event.moment, event.time > .seconds(1) { print(event.task, event.time, outcome) }
  }
}

func watching(
  _ shop: Server, indicator: @escaping @Sendable (Bool) -> Void,
  draw: @escaping @Sendable ([Origin: ServerGauges.Host]) -> Void
) async throws {
  await shop.update { $0.observers.append(SlowCalls()) }

  for await count in shop.manager.activity { indicator(count > 0) }

  let gauges = await shop.gauges()
  print(gauges.connections.connecting, gauges.connections.busy, gauges.connections.idle)
  print(gauges.running, gauges.waiting, gauges.streams)
  for await gauges in shop.gauges(every: .seconds(1)) { draw(gauges.hosts) }

  let answer = try await GetWidget(id: 7).response()
  print(answer.metrics.elapsed, answer.metrics.queued, answer.metrics.timings?.firstByte ?? .zero)
}

func responseTime(of shop: Server) async throws -> Duration {
  let time = try await shop.ping()  // a HEAD request to the remote
  return time
}

struct PetQuestion: TaskPayload {
  let user: String
  @Redacted var answer: String
}
