import Errand

extension EmbeddedShops {
  var remoteSteps: [TourStep] { [remoteFromEnvironment] }

  private var remoteFromEnvironment: TourStep {
    TourStep(
      "The environment variable SHOP_REMOTE selects the remote",
      #"""
      let shop = try Server(
        .fromEnvironment("SHOP_REMOTE", among: shops, default: production.remote))
      let sign = try await ReadSign().send()
      """#
    ) { page in
      let sign = try await ReadSign().send()
      try check(sign.shop == shop.remote.name, "asked \(shop.remote.name), but \(sign.shop) responded")
      page.say("\(shop.remote) says: “\(sign.text)”")
      for other in all where other.remote != shop.remote {
        let sign = try await ReadSign().on(Server(other.remote, asDefault: false)).send()
        try check(sign.shop == other.remote.name, "asked \(other.remote.name), but \(sign.shop) responded")
        page.say("SHOP_REMOTE=\(other.remote.name) would say: “\(sign.text)”")
      }
    }
  }
}
