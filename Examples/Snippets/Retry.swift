import Errand

func retry() async throws -> String {
  do {
    let answer = try await GetWidget(id: 7).retry(.attempts(5)).deadline(.seconds(20)).response()
    return "\(answer.payload.name), after \(answer.metrics.attemptCount) attempts"
  } catch let error as TaskError {
    return error.record.description  // the timeline of the call, with secrets hidden
  }
}

func retryOfAPost(_ widget: Widget) async throws -> Widget {
  try await Endpoint<Widget, Widget>.post("widgets", body: widget).idempotency(.key).send()
}

struct OrderWidget: POST<Widget, Widget> {
  let uploadPayload: Widget
  let path = "orders"
  var idempotency: Idempotency { .key }
}

func retry(at shop: Server) async throws -> Widget {
  let widget = try await shop.send(GetWidget(id: 7).retry(upTo: 3, after: .seconds(1)))

  let patient = RetryPolicy.decided { failure in
    guard failure.error.status == 503, failure.attempts.count < 5 else { return .giveUp }
    return .retry(after: failure.retryAfter ?? .seconds(2))
  }
  await shop.update { $0.retryPolicy = patient }
  return widget
}
