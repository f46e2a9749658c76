import Errand
import ErrandTesting

/// The tour's three built-in shops, and a server connected to the selected shop.
struct EmbeddedShops: Sendable {
  let all: [EmbeddedShop]
  /// The server used by the steps. Because it is created first, it is every task's default.
  let shop: Server
  /// The shop selected by the environment.
  let chosen: EmbeddedShop
  /// The files for the page of all calls, or `nil`.
  let page: PagePlace?

  /// Opens the shops.
  ///
  /// Throws `TaskError` with code `.unknownRemote` if the environment selects an unknown shop.
  init(writing page: PagePlace? = nil) throws {
    self.page = page
    let local = try EmbeddedShop("local", shortName: "loc", sign: "The shop under your desk.", discount: 1)
    let staging = try EmbeddedShop("staging", shortName: "stg", sign: "Nothing here is for sale.", discount: 0.5)
    let production = try EmbeddedShop("production", shortName: "prod", sign: "Welcome, and mind the step.")
    all = [local, staging, production]
    let shops = all.map(\.remote)
    let shop = try Server(
      .fromEnvironment("SHOP_REMOTE", among: shops, default: production.remote))
    self.shop = shop
    chosen = all.first { $0.remote == shop.remote } ?? production
  }

  var tour: Tour {
    Tour(
      greeting: """
        A tour of Errand with three small shops that run inside this program. It doesn't use the internet.
        The shops take 20 ms to find a widget, so that you can watch the progress.
        """,
      steps: remoteSteps + typedSteps + serverSteps + echoSteps + manySteps + troubleSteps + cacheSteps + streamSteps
        + recordingSteps,
      farewell: "The code is in Examples/Tour. To use your own server: swift run errand-tour --url URL")
  }
}
