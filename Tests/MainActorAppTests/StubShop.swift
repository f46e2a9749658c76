import Errand
import ErrandTesting
import Foundation

/// A shop without sockets.
nonisolated enum StubShop {
  static let transport = StubTransport { request in
    switch (request.method, request.url.path) {
    case (.get, "/widgets/7"): .json(#"{"id": 7, "name": "Cog"}"#, for: request)
    case (.get, "/widgets"): .json(#"[{"id": 7, "name": "Cog"}, {"id": 8, "name": "Gear"}]"#, for: request)
    case (.post, "/widgets"): .json(#"{"id": 9, "name": "Sprocket"}"#, status: .created, for: request)
    case (.post, "/widgets/7/orders"): .json(#"{"number": 41}"#, for: request)
    case (.delete, "/widgets/7"): .status(.noContent, for: request)
    case (.get, "/count"): .json(#"{"count": 2}"#, for: request)
    case (.get, "/find"): .status(.ok, for: request)
    case (.get, "/session"): .json(#"{"name": "\#(request.headers["X-Session"] ?? "")"}"#, for: request)
    case (.get, "/busy"): .status(.serviceUnavailable, for: request)
    default: .status(.notFound, for: request)
    }
  }
}
