/// A key for a value that is attached to a task for its steps and observers. The value is never sent or recorded.
///
///     enum Screen: TaskContextKey { static let defaultValue = "" }
///     let task = GetWidget(id: 7).context(Screen.self, "shelf")
///     // in a step:      request.options.context[Screen.self]
///     // in an observer: event.context[Screen.self]
public protocol TaskContextKey: SendableMetatype {
  /// The type of the value.
  associatedtype Value: Sendable
  /// The value used if none was set.
  static var defaultValue: Value { get }
}

/// The values attached to a task, keyed by type.
public struct TaskContext: Sendable {
  private var values: [ObjectIdentifier: any Sendable] = [:]

  /// Creates an empty context.
  public init() {}

  /// Whether the context has no values.
  public var isEmpty: Bool { values.isEmpty }

  /// The value for a key, or the key's default if none was set.
  public subscript<Key: TaskContextKey>(key: Key.Type) -> Key.Value {
    get { values[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}
