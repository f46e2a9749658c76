import Errand
import ErrandTesting

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A shop on a local port with 200 widgets that can be added, changed and removed.
struct EmbeddedShop: Sendable {
  let server: MockServer
  let remote: Remote

  init(_ name: String, shortName: String, sign: String, discount: Double = 0) throws {
    server = try MockServer()
    remote = Remote(server.url, name: name, shortName: shortName)
    let stock = (1...200).map { Widget(id: $0, name: "Widget \($0)", price: Double($0) - discount) }
    let storage = Shared(Dictionary(uniqueKeysWithValues: stock.map { ($0.id, $0) }))

    server.route(.get, "/sign") { _ in Self.answer(Sign(shop: name, text: sign)) }
    server.route(.post, "/mirror") { request in
      Self.answer(
        Mirror(
          app: request.headers["X-App"] ?? "", signature: request.headers["X-Signature"] ?? "",
          body: String(decoding: request.body, as: UTF8.self)))
    }
    server.route(.get, "/widgets/:id") { request in
      let widget = storage.withLock { $0[Self.id(of: request)] }
      // Delay the response so that the progress of concurrent tasks is visible.
      return Self.answer(widget).after(.milliseconds(20))
    }
    server.route(.get, "/newest") { _ in
      let newest = storage.withLock { $0.keys.max() ?? 0 }
      return .status(303, headers: ["Location": "widgets/\(newest)"])
    }
    server.route(.post, "/widgets") { request in
      guard let draft: NewWidget = Self.payload(of: request) else { return .status(400) }
      let widget = storage.withLock { storage in
        let widget = Widget(id: (storage.keys.max() ?? 0) + 1, name: draft.name, price: draft.price)
        storage[widget.id] = widget
        return widget
      }
      return Self.answer(widget, status: .created)
    }
    server.route(.put, "/widgets/:id") { request in
      guard let widget: Widget = Self.payload(of: request) else { return .status(400) }
      storage.withLock { $0[widget.id] = widget }
      return Self.answer(widget)
    }
    server.route(.patch, "/widgets/:id") { request in
      guard let change: Price = Self.payload(of: request) else { return .status(400) }
      return Self.answer(
        storage.withLock { storage in
          storage[Self.id(of: request)]?.price = change.price
          return storage[Self.id(of: request)]
        })
    }
    server.route(.delete, "/widgets/:id") { request in
      let removed = storage.withLock { $0.removeValue(forKey: Self.id(of: request)) }
      return .status(removed == nil ? .notFound : .noContent)
    }
  }

  private static func id(of request: MockRequest) -> Int { Int(request.parameters["id"] ?? "") ?? 0 }

  private static func payload<Payload: Decodable>(of request: MockRequest) -> Payload? {
    try? JSONDecoder().decode(Payload.self, from: request.body)  // an invalid payload gets a 400
  }

  private static func answer<Payload: Encodable>(_ payload: Payload?, status: HTTPStatus = .ok) -> MockAnswer {
    guard let payload, let data = try? JSONEncoder().encode(payload) else {
      return .json(#"{"error":"no such widget"}"#, status: .notFound)
    }
    return .data(data, type: .json, status: status)
  }
}
