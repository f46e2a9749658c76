import Errand
import ErrandTesting

extension EmbeddedShops {
  var manySteps: [TourStep] { [window] }

  private var window: TourStep {
    TourStep(
      "200 tasks, eight at a time",
      #"""
      let tasks = (1...200).map { GetWidget(id: $0) }
      let results = shop.manager.results(of: tasks, limit: 8)
      for await (task, result) in results {
        let widget = try result.get()
        …
        page.progress(seen.count, of: tasks.count, "  \(results.progress.running) under way")
      }
      """#
    ) { page in
      var seen: Set<Int> = []
      var worth = 0.0
      var busiest = 0
      let tasks = (1...200).map { GetWidget(id: $0) }
      let results = shop.manager.results(of: tasks, limit: 8)
      for await (task, result) in results {
        let widget = try result.get()
        try check(widget.id == task.id && seen.insert(task.id).inserted, "got widget \(widget.id) for \(task.id)")
        worth += widget.price
        busiest = max(busiest, results.progress.running)
        page.progress(seen.count, of: tasks.count, "  \(results.progress.running) under way")
      }
      try check(seen.count == 200, "only \(seen.count) arrived")
      try check((2...8).contains(busiest), "\(busiest) ran concurrently")
      page.say("worth \(worth) in total, over \(chosen.server.connectionCount) connections")
    }
  }
}
