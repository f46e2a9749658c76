import Errand
import ErrandTesting

extension EmbeddedShops {
  var manySteps: [TourStep] { [window, limits] }

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

  private var limits: TourStep {
    TourStep(
      "Limits, priorities, and cancelling calls by their tag",
      #"""
      await shop.manager.setLimits(ThrottleLimits(perHost: 2))
      let pictures = (1...50).map { id in
        shop.manager.start(GetWidget(id: id).priority(.low).tagged("pictures"))
      }
      let widget = try await GetWidget(id: 7).priority(.urgent).send()
      let cancelled = await shop.manager.cancel(tag: "pictures")
      """#
    ) { page in
      await shop.manager.setLimits(ThrottleLimits(perHost: 2))
      let pictures = (1...50).map { id in
        shop.manager.start(GetWidget(id: id).priority(.low).tagged("pictures"))
      }
      let widget = try await GetWidget(id: 7).priority(.urgent).send()
      let cancelled = await shop.manager.cancel(tag: "pictures")
      await shop.manager.setLimits(ThrottleLimits())
      var arrived = 0
      for picture in pictures {
        do {
          _ = try await picture.value
          arrived += 1
        } catch is CancellationError {}
      }
      try check(widget.id == 7 && cancelled > 0, "\(cancelled) calls were cancelled")
      try check(arrived + cancelled == pictures.count, "\(arrived) arrived, and \(cancelled) were cancelled")
      page.say("\(widget.name) overtook \(cancelled) pictures, which were then cancelled")
    }
  }
}
