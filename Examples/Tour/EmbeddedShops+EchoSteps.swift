import Errand

extension EmbeddedShops {
  var echoSteps: [TourStep] { [echo] }

  private var echo: TourStep {
    TourStep(
      "An echoing task shows the exchange, with secrets hidden",
      #"""
      struct WatchWidget: GET<Widget>, EchoingTask {
        let id: Int
        var path: String { "widgets/\(id)" }
      }

      let task = WatchWidget(id: 7).header(.authorization, "Bearer sesame")
      let widget = try await task.send()
      """#
    ) { page in
      let (echoes, put) = AsyncStream.makeStream(of: String.self)
      await shop.update { $0.log = LogOutput { put.yield($0) } }
      let task = WatchWidget(id: 7).header(.authorization, "Bearer sesame")
      let widget = try await task.send()
      put.finish()
      await shop.update { $0.log = .standardError }
      let text = await echoes.reduce(into: "") { $0 += $1 }
      page.quote(text)
      try check(text.contains("200 OK") && text.contains(widget.name), "nothing was echoed")
      try check(text.contains("<redacted>") && !text.contains("sesame"), "the secret was echoed")
    }
  }
}
