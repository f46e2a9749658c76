import Errand
import ErrandInspection

struct Widget: TaskPayload {
  let id: Int
  let name: String
}

struct GetWidget: GET<Widget> {
  let id: Int
  var path: String { "widgets/\(id)" }
}

enum Introduction {
  struct AddWidget: POST<Widget, Widget> {  // sends a widget, and returns a widget
    let uploadPayload: Widget
    var path: String { "widgets" }
  }

  static func show() async throws -> (Server, Widget) {
    let log = try HTTPLog()  // prints the URL of a page that shows every call
    let shop = Server("https://shop.example.com/v1") { $0.recorders.append(log) }
    let widget = try await shop.send(GetWidget(id: 7))
    let added = try await shop.send(AddWidget(uploadPayload: widget))
    return (shop, added)
  }
}
