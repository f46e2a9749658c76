import Errand
import ErrandTesting
import Foundation

extension EmbeddedShops {
  var troubleSteps: [TourStep] { [redirect, retry, cancel] }

  private var redirect: TourStep {
    TourStep(
      "A redirect is followed, and its credentials stay with their origin",
      #"""
      let newest = try await Endpoint<Void, Widget>.get("newest").response()
      let way = newest.response.redirects
      """#
    ) { page in
      let newest = try await Endpoint<Void, Widget>.get("newest").response()
      let way = newest.response.redirects
      for hop in way { page.say("\(hop.method) \(hop.url.path): \(hop.status)") }
      page.say("\(newest.payload.name), from \(newest.response.url.path)")
      try check(way.map(\.status) == [303], "the way was \(way)")
    }
  }

  private var retry: TourStep {
    TourStep(
      "A 503 is tried again, when the server says so",
      #"""
      let answer = try await GetWidget(id: 7).response()  // a GET may be repeated; a POST is not
      let record = answer.record
      """#
    ) { page in
      chosen.server.enqueue(.status(503, headers: ["Retry-After": "1"]))
      let answer = try await GetWidget(id: 7).response()  // a GET may be repeated; a POST is not
      let record = answer.record
      page.say("the flight record, which errors carry too:")
      page.quote(record.description)
      try check(answer.attempts.map(\.status) == [503, 200], "the attempts are \(answer.attempts.map(\.outcome))")
      try check(answer.metrics.elapsed >= .seconds(1), "Retry-After was not heeded")
    }
  }

  private var cancel: TourStep {
    TourStep(
      "A cancelled call ends at once, and lets its connection go",
      #"""
      let work = Task { try await GetWidget(id: 7).on(sleepy).download() }
      work.cancel()
      """#
    ) { page in
      let shop = try MockServer()
      shop.route("/*", answer: .hang)
      let sleepy = Server(remote: Remote(shop.url))
      let work = Task { try await GetWidget(id: 7).on(sleepy).download() }
      _ = try await shop.nextRequest()
      page.say("the shop has the request, and will never answer")
      let start = ContinuousClock.now
      work.cancel()
      do {
        _ = try await work.value
        throw Unexpected(description: "the call gave a widget")
      } catch is CancellationError {
        page.say("CancellationError after \((ContinuousClock.now - start).inWords)")
      }
      try await shop.waitForOpenConnections(0)
      page.say("the shop saw its connection close")
    }
  }
}
