import Errand

extension EmbeddedShops {
  var typedSteps: [TourStep] { [get, post, put, patch, delete] }

  private var get: TourStep {
    TourStep(
      "GET: a task is a small struct that returns your own type",
      #"""
      struct GetWidget: GET<Widget> {
        let id: Int
        var path: String { "widgets/\(id)" }
      }

      let widget = try await GetWidget(id: 7).send()
      """#
    ) { page in
      let widget = try await GetWidget(id: 7).send()
      try check(widget.id == 7 && widget.name == "Widget 7", "the widget is \(widget)")
      page.say("\(widget)")
    }
  }

  private var post: TourStep {
    TourStep(
      "POST: send one payload and receive another",
      #"""
      struct AddWidget: POST<NewWidget, Widget> {
        let uploadPayload: NewWidget
        var path: String { "widgets" }
      }

      let sprocket = NewWidget(name: "Sprocket", price: 12.5)
      let answer = try await AddWidget(uploadPayload: sprocket).response()
      """#
    ) { page in
      let sprocket = NewWidget(name: "Sprocket", price: 12.5)
      let answer = try await AddWidget(uploadPayload: sprocket).response()
      try check(answer.status == .created && answer.payload.name == "Sprocket", "\(answer.status): \(answer.text)")
      page.say("\(answer.status): widget \(answer.payload.id), after \(answer.metrics.elapsed.inWords)")
    }
  }

  private var put: TourStep {
    TourStep(
      "PUT: replace a resource",
      #"""
      let cog = Widget(id: 201, name: "Cog", price: 3)
      let replaced = try await ReplaceWidget(uploadPayload: cog).send()
      """#
    ) { page in
      let cog = Widget(id: 201, name: "Cog", price: 3)
      let replaced = try await ReplaceWidget(uploadPayload: cog).send()
      let seen = try await GetWidget(id: 201).send()
      try check(replaced == cog && seen == cog, "the shop has \(seen)")
      page.say("widget 201 is now: \(seen.name), \(seen.price)")
    }
  }

  private var patch: TourStep {
    TourStep(
      "PATCH: change part of a resource",
      #"""
      let cheaper = try await ChangePrice(id: 201, uploadPayload: Price(price: 2)).send()
      """#
    ) { page in
      let cheaper = try await ChangePrice(id: 201, uploadPayload: Price(price: 2)).send()
      try check(cheaper == Widget(id: 201, name: "Cog", price: 2), "the shop has \(cheaper)")
      page.say("still a \(cheaper.name), now for \(cheaper.price)")
    }
  }

  private var delete: TourStep {
    TourStep(
      "DELETE: remove a resource, and get an error when requesting it again",
      #"""
      try await RemoveWidget(id: 201).send()
      do {
        _ = try await GetWidget(id: 201).send()
      } catch let error as TaskError where error.status == .notFound {
        …
      }
      """#
    ) { page in
      try await RemoveWidget(id: 201).send()
      do {
        _ = try await GetWidget(id: 201).send()
      } catch let error as TaskError where error.status == .notFound {
        page.say("\(error)")
        return page.say("its body is kept: \(error.bodyText ?? "")")
      }
      throw Unexpected(description: "the widget is still there")
    }
  }
}
