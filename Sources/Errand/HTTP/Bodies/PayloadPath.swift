import ErrandFoundation

/// The path to a payload inside a response body: its keys, outermost first.
///
///     struct GetWidget: ServerGETTask, PayloadDownloadingTask {
///       typealias DownloadPayload = Widget
///       let path = "widgets/7"
///       let payloadPath = "data"          // {"data": {"id": 7, …}, "took": 3}
///     }
public struct PayloadPath: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
  /// The keys. Empty for the entire body, `nil` if inherited.
  let keys: [String]?

  /// Creates a path from keys.
  public init(_ keys: [String]) { self.keys = keys }

  private init(inherited: Void) { keys = nil }

  /// Creates a path with one key, which can contain any character.
  public init(stringLiteral value: String) { keys = [value] }

  /// Creates a path from keys.
  public init(arrayLiteral elements: String...) { keys = elements }

  /// The server's path.
  public static let inherited = PayloadPath(inherited: ())

  /// The whole body.
  public static let whole = PayloadPath([])

  /// Returns the keys to use. `Data` and `String` payloads ignore an inherited path and decode the entire body.
  func keys(for payload: Any.Type, under server: PayloadPath) -> [String] {
    if let keys { return keys }
    guard let keys = server.keys, !keys.isEmpty else { return [] }
    let isBody = payload == Data.self || payload == String.self || payload == Data?.self || payload == String?.self
    return isBody ? [] : keys
  }
}

extension PayloadPath: CustomStringConvertible {
  /// The keys, joined by dots, such as `data.items`.
  public var description: String { keys?.joined(separator: ".") ?? "inherited" }
}
