/// The query of a URL: names and values in order, escaped when they are written.
///
///     var query: HTTPQuery { ["q": text, "page": "\(page)"] }
///
/// Every byte outside of the unreserved set of RFC 3986 §2.3 is percent-encoded, `+`, `&` and `=` included, so a
/// value arrives as it was given. Order is kept and names may repeat. A value that is nil is left out; a name that stands
/// alone is an ``Item`` without a value.
public struct HTTPQuery: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// One `name=value`; without a value, only `name` is written.
  public struct Item: Sendable, Hashable {
    /// The name, unescaped.
    public var name: String
    /// The value, unescaped.
    public var value: String?

    /// An item by name and value, unescaped.
    public init(_ name: String, _ value: String?) {
      self.name = name
      self.value = value
    }
  }

  /// The items in order.
  public var items: [Item]

  /// An empty query.
  public init() { items = [] }

  /// The given items, in order.
  public init(_ items: [Item]) { self.items = items }

  /// Names and values in order; where a value is nil, its name is left out as well.
  public init(_ pairs: some Sequence<(String, String?)>) {
    items = pairs.compactMap { pair in pair.1.map { Item(pair.0, $0) } }
  }

  /// The entries of a dictionary, sorted by name; where a value is nil, its name is left out as well.
  public init(_ entries: [String: String?]) { self.init(entries.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }) }

  /// The items of the literal, in order; where a value is nil, its name is left out as well.
  public init(dictionaryLiteral elements: (String, String?)...) { self.init(elements) }

  /// The value of the first item of a name. Setting replaces all of them, in the place of the first; nil removes them.
  public subscript(_ name: String) -> String? {
    get { items.first { $0.name == name }?.value }
    set {
      let place = items.firstIndex { $0.name == name }
      items.removeAll { $0.name == name }
      if let newValue { items.insert(Item(name, newValue), at: place ?? items.count) }
    }
  }

  /// The values of all items of a name, in order.
  public func values(for name: String) -> [String] { items.filter { $0.name == name }.compactMap(\.value) }

  /// True when there is nothing to write.
  public var isEmpty: Bool { items.isEmpty }

  /// Adds an item at the end; nothing where the value is nil.
  public mutating func add(_ name: String, _ value: String?) {
    if let value { items.append(Item(name, value)) }
  }

  /// The query as it stands in a URL, without the question mark.
  public var encoded: String {
    items.map { item in
      let name = Self.escaped(item.name)
      return item.value.map { "\(name)=\(Self.escaped($0))" } ?? name
    }.joined(separator: "&")
  }

  /// `text` with every byte but the unreserved ones (RFC 3986 §2.3) percent-encoded.
  static func escaped(_ text: String) -> String {
    String(decoding: text.percentEncodedBytes(except: "-._~"), as: UTF8.self)
  }
}
