import Errand

// Tasks of an app whose default isolation is the main actor, with annotations only if the compiler requires them.

struct Widget: TaskPayload, Equatable {
  let id: Int
  let name: String
}

/// A plain `Codable` type must be `nonisolated`. A `TaskPayload` needs no annotation.
nonisolated struct Receipt: Codable, Sendable {
  let number: Int
}

extension Server {
  static let shop = Server(
    "https://shop.test", transport: StubShop.transport)
}

/// The shared settings of the shop's tasks. Without `nonisolated` they would be isolated to the main actor.
nonisolated protocol ShopTask: ServerTask {}

nonisolated extension ShopTask {
  var server: Server { .shop }
  var retryPolicy: RetryPolicy { .never }
}

struct GetWidget: ShopTask, ServerGETTask, PayloadDownloadingTask {
  typealias DownloadPayload = Widget
  let id: Int
  var path: String { "widgets/\(id)" }
}

struct ListWidgets: ShopTask, ServerGETTask, PayloadDownloadingTask {
  typealias DownloadPayload = [Widget]
  var path: String { "widgets" }
}

struct FindWidget: ShopTask, ServerGETTask, PayloadDownloadingTask {
  typealias DownloadPayload = Widget?
  let name: String
  var path: String { "find" }
  var query: HTTPQuery { ["name": name] }
}

struct AddWidget: ShopTask, ServerPOSTTask, PayloadUploadingTask, PayloadDownloadingTask {
  typealias DownloadPayload = Widget
  let uploadPayload: Widget
  var path: String { "widgets" }
}

struct BuyWidget: ShopTask, ServerPOSTTask, PayloadDownloadingTask {
  typealias DownloadPayload = Receipt
  let id: Int
  var path: String { "widgets/\(id)/orders" }
}

struct CountWidgets: ShopTask, ServerGETTask, PayloadDownloadingTask {
  struct DownloadPayload: Decodable, Sendable {
    let count: Int
  }
  var path: String { "count" }
}

struct AskBusyShop: ShopTask, ServerGETTask {
  let path = "busy"
}

// Tasks that declare the method and payloads in the inheritance clause.

struct FetchWidget: GET<Widget> {
  let id: Int
  var path: String { "widgets/\(id)" }
  var server: Server { .shop }
}

struct FetchWidgets: ShopTask, GET<[Widget]> {
  let path = ["widgets"]
}

struct StoreWidget: ShopTask, POST<Widget, Widget> {
  let uploadPayload: Widget
  let path = "widgets"
}

struct OrderWidget: ShopTask, POST<NoContent, Receipt> {
  let id: Int
  var path: String { "widgets/\(id)/orders" }
}

struct RemoveWidget: ShopTask, DELETE<NoContent> {
  let id: Int
  var path: String { "widgets/\(id)" }
}

enum Shelf: TaskContextKey {
  static let defaultValue = 0
}

/// The state of the app's screens.
final class Shown {
  static var widgets: [Int] = []
}

/// A task whose hooks change main-actor state.
struct ShowWidget: ShopTask, ServerGETTask {
  let id: Int
  var path: String { "widgets/\(id)" }
  var context: TaskContext {
    var context = TaskContext()
    context[Shelf.self] = id
    return context
  }

  func didComplete(with response: HTTPResponse) async {
    let id = id
    await MainActor.run { Shown.widgets.append(id) }
  }
}
