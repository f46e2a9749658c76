import ErrandFoundation

/// The place of the payload in a body that wraps it: the keys that lead to it, the outermost first.
///
///     struct GetWidget: ServerGETTask, PayloadDownloadingTask {
///       typealias DownloadPayload = Widget
///       let path = "widgets/7"
///       let payloadPath = "data"          // {"data": {"id": 7, …}, "took": 3}
///     }
public struct PayloadPath: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
  /// The keys; empty for the body itself, nil where the server's count.
  let keys: [String]?

  /// A place by the keys that lead to it.
  public init(_ keys: [String]) { self.keys = keys }

  private init(inherited: Void) { keys = nil }

  /// A place by one key, whatever characters it has.
  public init(stringLiteral value: String) { keys = [value] }

  /// A place by the keys that lead to it.
  public init(arrayLiteral elements: String...) { keys = elements }

  /// What the server says.
  public static let inherited = PayloadPath(inherited: ())

  /// The body itself.
  public static let whole = PayloadPath([])

  /// The keys that count for a payload, under those of the server: bytes and texts are the body itself unless the task says
  /// otherwise.
  func keys(for payload: Any.Type, under server: PayloadPath) -> [String] {
    if let keys { return keys }
    guard let keys = server.keys, !keys.isEmpty else { return [] }
    let isBody = payload == Data.self || payload == String.self || payload == Data?.self || payload == String?.self
    return isBody ? [] : keys
  }
}

extension PayloadPath: CustomStringConvertible {
  /// The keys with dots between them: `data.items`.
  public var description: String { keys?.joined(separator: ".") ?? "inherited" }
}
