import Errand

struct Widget: TaskPayload {
  let id: Int
}

struct GetWidget: ServerGETTask, PayloadDownloadingTask {
  typealias DownloadPayload = Widget
  let id: Int
  var path: String { "widgets/\(id)" }
}
