import Errand
import ErrandTesting

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension EmbeddedShops {
  var troubleSteps: [TourStep] { [redirect, retry, signIn, cancel] }

  private var redirect: TourStep {
    TourStep(
      "A redirect is followed, and credentials stay with their origin",
      #"""
      let newest = try await Endpoint<Void, Widget>.get("newest").response()
      let way = newest.response.redirects
      """#
    ) { page in
      let newest = try await Endpoint<Void, Widget>.get("newest").response()
      let way = newest.response.redirects
      for hop in way { page.say("\(hop.method) \(hop.url.path): \(hop.status)") }
      page.say("\(newest.payload.name), from \(newest.response.url.path)")
      try check(way.map(\.status) == [303], "the redirects were \(way)")
    }
  }

  private var retry: TourStep {
    TourStep(
      "A 503 is retried when the server asks for it",
      #"""
      let answer = try await GetWidget(id: 7).response()  // a GET is retried; a POST is not
      let record = answer.record
      """#
    ) { page in
      chosen.server.enqueue(.status(503, headers: ["Retry-After": "1"]))
      let answer = try await GetWidget(id: 7).response()  // a GET is retried; a POST is not
      let record = answer.record
      page.say("the flight record, which is also part of every error:")
      page.quote(record.description)
      let hint = "to write them, run: swift run errand-tour --page tour.html"
      page.say(
        "all calls on a page with a waterfall and as HAR: \(self.page.map { "see \($0.words) at the end" } ?? hint)")
      try check(answer.attempts.map(\.status) == [503, 200], "the attempts were \(answer.attempts.map(\.outcome))")
      try check(answer.metrics.elapsed >= .seconds(1), "Retry-After was ignored")
    }
  }

  private var signIn: TourStep {
    TourStep(
      "A token that expires during ten calls is refreshed once",
      #"""
      await guarded.update { $0.authentication = authentication }
      let widgets = try await guarded.manager.downloads(of: (1...10).map { GetWidget(id: $0).on(guarded) }, limit: 10)
      """#
    ) { page in
      let (shop, issued) = (try MockServer(), Shared(1))
      shop.route(.post, "/token") { _ in
        let token = issued.withLock { issued in
          issued += 1
          return issued
        }
        return .json(#"{"access_token":"t\#(token)","token_type":"Bearer"}"#).after(.milliseconds(20))
      }
      shop.route(.get, "/widgets/:id") { request in
        guard request.headers["Authorization"] == "Bearer t\(issued.withLock { $0 })" else { return .status(401) }
        return .json(#"{"id":\#(request.parameters["id"] ?? "0"),"name":"Widget","price":1}"#)
      }
      let signIn = OAuth2(
        tokenURL: shop.url.appending(path: "token"), client: .init(id: "tour", secret: "s3cret"),
        grant: .clientCredentials)
      let (guarded, authentication) = (Server(shop.url, asDefault: false), Authentication.oauth2(signIn))
      await guarded.update { $0.authentication = authentication }
      _ = try await guarded.send(GetWidget(id: 1))
      issued.withLock { $0 += 1 }
      page.say("the first call got a token, which the shop no longer accepts")
      let widgets = try await guarded.manager.downloads(of: (1...10).map { GetWidget(id: $0).on(guarded) }, limit: 10)
      let refreshes = shop.requests.count { $0.path == "/token" } - 1
      page.say("ten calls got a 401, then \(widgets.count) widgets; token requests: \(refreshes)")
      try check(widgets.count == 10 && refreshes == 1, "there were \(refreshes) token requests")
    }
  }

  private var cancel: TourStep {
    TourStep(
      "A cancelled call ends immediately and closes its connection",
      #"""
      let work = Task { try await sleepy.send(GetWidget(id: 7)) }
      work.cancel()
      """#
    ) { page in
      let shop = try MockServer()
      shop.route("/*", answer: .hang)
      let sleepy = Server(shop.url, asDefault: false)
      let work = Task { try await sleepy.send(GetWidget(id: 7)) }
      _ = try await shop.nextRequest()
      page.say("the shop has received the request, and will never respond")
      let start = ContinuousClock.now
      work.cancel()
      do {
        _ = try await work.value
        throw Unexpected(description: "the call returned a widget")
      } catch is CancellationError {
        page.say("CancellationError after \((ContinuousClock.now - start).inWords)")
      }
      try await shop.waitForOpenConnections(0)
      page.say("the shop saw its connection close")
    }
  }
}
