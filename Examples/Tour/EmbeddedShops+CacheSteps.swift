import Errand
import ErrandTesting

extension EmbeddedShops {
  var cacheSteps: [TourStep] { [cached] }

  private var cached: TourStep {
    TourStep(
      "A fresh response comes from the cache",
      #"""
      await library.update { $0.cache = MemoryCache() }
      let first = try await GetWidget(id: 7).on(library).response()
      let second = try await GetWidget(id: 7).on(library).response()
      """#
    ) { page in
      let shop = try MockServer()
      let widget = MockAnswer.json(#"{"id":7,"name":"Widget 7","price":7}"#)
      shop.route(.get, "/widgets/7", answer: widget.header(.cacheControl, "max-age=60"))
      let library = Server(shop.url, asDefault: false)
      await library.update { $0.cache = MemoryCache() }
      let first = try await GetWidget(id: 7).on(library).response()
      let second = try await GetWidget(id: 7).on(library).response()
      for answer in [first, second] {
        page.say("\(answer.headers[.cacheStatus] ?? "no Cache-Status"), \(answer.metrics.elapsed.inWords)")
      }
      try check(second.payload == first.payload && shop.requestCount == 1, "\(shop.requestCount) requests were sent")
      try check(
        second.headers[.cacheStatus]?.hasPrefix("errand; hit") == true, "the second response was not a cache hit")
    }
  }
}
