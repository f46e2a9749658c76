import Errand
import ErrandTesting

extension EmbeddedShops {
  var manySteps: [TourStep] { [window] }

  private var window: TourStep {
    TourStep(
      "200 tasks, eight at a time",
      #"""
      let tasks = (1...200).map { GetWidget(id: $0) }
      for await (task, result) in shop.manager.results(of: tasks, limit: 8) {
        let widget = try result.get()
        …
      }
      """#
    ) { page in
      var seen: Set<Int> = []
      var worth = 0.0
      var busiest = 0
      let tasks = (1...200).map { GetWidget(id: $0) }
      for await (task, result) in shop.manager.results(of: tasks, limit: 8) {
        let widget = try result.get()
        try check(widget.id == task.id && seen.insert(task.id).inserted, "widget \(widget.id) came for \(task.id)")
        worth += widget.price
        busiest = max(busiest, shop.manager.runningCount)
        page.progress(seen.count, of: tasks.count, "  \(shop.manager.runningCount) under way")
      }
      try check(seen.count == 200, "only \(seen.count) came")
      try check((2...8).contains(busiest), "\(busiest) were under way at once")
      page.say("worth \(worth) in all, over \(chosen.server.connectionCount) connections")
    }
  }
}
