/// The query of a URL, as ordered names and values. They are escaped when the URL is built.
///
///     var query: HTTPQuery { ["q": text, "page": 2] }
///
/// All bytes outside the unreserved set in RFC 3986 §2.3 are percent-encoded, including `+`, `&` and `=`, so values
/// arrive unchanged. Names can be repeated, and their order is kept. Entries with a `nil` value are omitted. For a name
/// without a value, use an ``Item``.
public struct HTTPQuery: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// A `name=value` pair. If the value is `nil`, only `name` is written.
  public struct Item: Sendable, Hashable {
    /// The name, unescaped.
    public var name: String
    /// The value, unescaped.
    public var value: String?

    /// Creates an item from an unescaped name and value.
    public init(_ name: String, _ value: String?) {
      self.name = name
      self.value = value
    }
  }

  /// The items, in order.
  public var items: [Item]

  /// Creates an empty query.
  public init() { items = [] }

  /// Creates a query from items, in order.
  public init(_ items: [Item]) { self.items = items }

  /// Creates a query from names and values, in order. Pairs with a `nil` value are omitted.
  public init(_ pairs: some Sequence<(String, String?)>) {
    items = pairs.compactMap { pair in pair.1.map { Item(pair.0, $0) } }
  }

  /// Creates a query from a dictionary, sorted by name. Entries with a `nil` value are omitted.
  public init(_ entries: [String: String?]) { self.init(entries.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }) }

  /// Creates a query from a literal, in order. Entries with a `nil` value are omitted. Values can be strings, numbers
  /// and Booleans, which are written as `true` and `false`.
  public init(dictionaryLiteral elements: (String, (any LosslessStringConvertible)?)...) {
    self.init(elements.map { ($0.0, $0.1.map { "\($0)" }) })
  }

  /// The value of the first item with this name. Setting a value replaces that item and removes the others. Setting
  /// `nil` removes all items with this name.
  public subscript(_ name: String) -> String? {
    get { items.first { $0.name == name }?.value }
    set {
      let place = items.firstIndex { $0.name == name }
      items.removeAll { $0.name == name }
      if let newValue { items.insert(Item(name, newValue), at: place ?? items.count) }
    }
  }

  /// Returns the values of all items with this name, in order.
  public func values(for name: String) -> [String] { items.filter { $0.name == name }.compactMap(\.value) }

  /// Whether the query has no items.
  public var isEmpty: Bool { items.isEmpty }

  /// Appends an item, unless the value is `nil`.
  public mutating func add(_ name: String, _ value: (any LosslessStringConvertible)?) {
    if let value { items.append(Item(name, "\(value)")) }
  }

  /// The query as it appears in a URL, without the question mark.
  public var encoded: String {
    items.map { item in
      let name = Self.escaped(item.name)
      return item.value.map { "\(name)=\(Self.escaped($0))" } ?? name
    }.joined(separator: "&")
  }

  /// Percent-encodes all bytes except the unreserved ones (RFC 3986 §2.3).
  package static func escaped(_ text: String) -> String {
    String(decoding: text.percentEncodedBytes(except: "-._~"), as: UTF8.self)
  }
}
