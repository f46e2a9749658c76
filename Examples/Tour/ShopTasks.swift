import Errand

/// A product of the shop.
struct Widget: TaskPayload, Equatable {
  let id: Int
  var name: String
  var price: Double
}

/// A widget that has no ID yet.
struct NewWidget: TaskPayload {
  let name: String
  let price: Double
}

/// A widget's new price.
struct Price: TaskPayload {
  let price: Double
}

/// The sign over the door, which identifies the shop.
struct Sign: TaskPayload {
  let shop: String
  let text: String
}

/// The parts of a request that the shop received.
struct Mirror: TaskPayload {
  let app: String
  let signature: String
  let body: String
}

struct AskMirror: POST<NewWidget, Mirror> {
  let uploadPayload: NewWidget
  var path: String { "mirror" }
}

struct ReadSign: GET<Sign> {
  var path: String { "sign" }
}

struct GetWidget: GET<Widget> {
  let id: Int
  var path: String { "widgets/\(id)" }
}

struct AddWidget: POST<NewWidget, Widget> {
  let uploadPayload: NewWidget
  var path: String { "widgets" }
}

struct ReplaceWidget: PUT<Widget, Widget> {
  let uploadPayload: Widget
  var path: String { "widgets/\(uploadPayload.id)" }
}

struct ChangePrice: PATCH<Price, Widget> {
  let id: Int
  let uploadPayload: Price
  var path: String { "widgets/\(id)" }
}

struct RemoveWidget: DELETE<NoContent> {
  let id: Int
  var path: String { "widgets/\(id)" }
}

struct WatchWidget: GET<Widget>, EchoingTask {
  let id: Int
  var path: String { "widgets/\(id)" }
}

struct AddPhoto: ServerPOSTTask, MultipartUploadingTask {
  let uploadForm: MultipartForm
  let path = "photos"
}

struct WatchPrices: ServerGETTask {
  let path = "prices"
}

struct GetBackup: ServerGETTask {
  let path = "backup"
}
