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

struct ReadSign: ServerGETTask, PayloadDownloadingTask {
  typealias DownloadPayload = Sign
  var path: String { "sign" }
}

struct GetWidget: ServerGETTask, PayloadDownloadingTask {
  typealias DownloadPayload = Widget
  let id: Int
  var path: String { "widgets/\(id)" }
}

struct AddWidget: ServerPOSTTask, PayloadUploadingTask, PayloadDownloadingTask {
  typealias DownloadPayload = Widget
  let uploadPayload: NewWidget
  var path: String { "widgets" }
}

struct ReplaceWidget: ServerPUTTask, PayloadUploadingTask, PayloadDownloadingTask {
  typealias DownloadPayload = Widget
  let uploadPayload: Widget
  var path: String { "widgets/\(uploadPayload.id)" }
}

struct ChangePrice: ServerPATCHTask, PayloadUploadingTask, PayloadDownloadingTask {
  typealias DownloadPayload = Widget
  let id: Int
  let uploadPayload: Price
  var path: String { "widgets/\(id)" }
}

struct RemoveWidget: ServerDELETETask {
  let id: Int
  var path: String { "widgets/\(id)" }
}

struct WatchWidget: ServerGETTask, PayloadDownloadingTask, EchoingTask {
  typealias DownloadPayload = Widget
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
