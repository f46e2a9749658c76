import Errand

extension EmbeddedShops {
  var serverSteps: [TourStep] { [settings] }

  private var settings: TourStep {
    TourStep(
      "A server has default header fields, an encoder and a preflight hook",
      #"""
      await shop.update {
        $0.standardHeaders["X-App"] = "tour"
        $0.defaultEncoder = FormEncoder()
        $0.preflight = { task, request in request.headers["X-Signature"] = "\(request.method) signed" }
      }
      let mirror = try await AskMirror(uploadPayload: NewWidget(name: "Nut", price: 0.5)).send()
      """#
    ) { page in
      let before = shop.configuration
      await shop.update {
        $0.standardHeaders["X-App"] = "tour"
        $0.defaultEncoder = FormEncoder()
        $0.preflight = { task, request in request.headers["X-Signature"] = "\(request.method) signed" }
      }
      let mirror = try await AskMirror(uploadPayload: NewWidget(name: "Nut", price: 0.5)).send()
      await shop.update {
        ($0.standardHeaders, $0.defaultEncoder) = (before.standardHeaders, before.defaultEncoder)
        $0.preflight = before.preflight
      }
      try check(mirror.app == "tour", "the shop got the app '\(mirror.app)'")
      try check(mirror.signature == "POST signed", "the shop got the signature '\(mirror.signature)'")
      try check(mirror.body == "name=Nut&price=0.5", "the shop got the body '\(mirror.body)'")
      page.say("the shop got X-App: \(mirror.app), X-Signature: \(mirror.signature), and the body \(mirror.body)")
    }
  }
}
