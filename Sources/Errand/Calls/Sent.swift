/// The requests that a server may have received from a call or an attempt.
enum Sent: Sendable {
  case nothing
  /// Requests that can be resent.
  case repeatable
  /// A request that must not be resent, with its method.
  case onceOnly(HTTPMethod)

  func adding(_ other: Sent) -> Sent {
    switch (self, other) {
    case (.nothing, _), (.repeatable, .onceOnly): other
    default: self
    }
  }

  mutating func add(_ other: Sent) { self = adding(other) }

  var isNothing: Bool { if case .nothing = self { true } else { false } }

  /// The method of the request that must not be resent, if any.
  var onceOnly: HTTPMethod? { if case .onceOnly(let method) = self { method } else { nil } }
}
