/// A value that travels with a task, for steps and observers to read; never sent and never written down.
///
///     enum Screen: TaskContextKey { static let defaultValue = "" }
///     let task = GetWidget(id: 7).context(Screen.self, "shelf")
///     // in a step:      request.options.context[Screen.self]
///     // in an observer: event.context[Screen.self]
public protocol TaskContextKey: SendableMetatype {
  /// The type of the value under the key.
  associatedtype Value: Sendable
  /// The value where none was set.
  static var defaultValue: Value { get }
}

/// The values that travel with a task, by their keys' types.
public struct TaskContext: Sendable {
  private var values: [ObjectIdentifier: any Sendable] = [:]

  /// Nothing.
  public init() {}

  /// True when nothing was set.
  public var isEmpty: Bool { values.isEmpty }

  /// The value under a key; the key's default where none was set.
  public subscript<Key: TaskContextKey>(key: Key.Type) -> Key.Value {
    get { values[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}
