/// The header fields of a message, in order. A name can have several values.
///
///     var headers: HTTPHeaders = ["Accept": "application/json"]
///     headers[.ifNoneMatch] = "\"abc\""          // replaces existing values
///     headers.add("a=1", for: .setCookie)         // keeps existing values
public struct HTTPHeaders: Sendable, Hashable {
  /// A single field line.
  public struct Field: Sendable, Hashable {
    /// The name of the field.
    public var name: HTTPHeaderName
    /// The value of the field, without surrounding whitespace.
    public var value: String

    /// Creates a field.
    public init(_ name: HTTPHeaderName, _ value: String) {
      self.name = name
      self.value = value
    }

    /// Whether two fields have the same name, ignoring case, and values with the same bytes.
    public static func == (left: Field, right: Field) -> Bool {
      left.name == right.name && left.value.hasSameBytes(as: right.value)
    }

    /// The maximum size on the wire, in bytes, as estimated by nghttp2, including 12 bytes for framing.
    package var size: Int { name.rawName.utf8.count + value.utf8.count + 12 }
  }

  /// The fields in the order they were received or are sent.
  public private(set) var fields: [Field]

  /// Creates an empty header.
  public init() { fields = [] }

  /// Creates a header from fields, keeping their order and any duplicates.
  public init(_ fields: [Field]) { self.fields = fields }

  /// The value of a field. Several values are joined with `, ` (RFC 9110 §5.3). Setting a value replaces the first
  /// field line and removes the others. Setting `nil` removes the field.
  ///
  /// `Set-Cookie` can't be joined: use ``values(for:)`` to read it.
  public subscript(_ name: HTTPHeaderName) -> String? {
    get {
      guard let first = firstIndex(of: name) else { return nil }
      guard fields[(first + 1)...].contains(where: { $0.name == name }) else { return fields[first].value }
      return values(for: name).joined(separator: ", ")
    }
    set {
      guard let first = firstIndex(of: name) else {
        if let newValue { fields.append(Field(name, newValue)) }
        return
      }
      guard let newValue else { return fields.removeAll { $0.name == name } }
      fields[first] = Field(name, newValue)
      removeDuplicates(of: name, after: first)
    }
  }

  package mutating func removeFraming() { fields.removeAll { $0.name.isOfFraming } }

  /// Returns all values of a field, in order.
  public func values(for name: HTTPHeaderName) -> [String] {
    fields.filter { $0.name == name }.map(\.value)
  }

  /// Whether the field is present.
  public func contains(_ name: HTTPHeaderName) -> Bool { firstIndex(of: name) != nil }

  /// Adds a field line and keeps existing ones.
  public mutating func add(_ value: String, for name: HTTPHeaderName) { fields.append(Field(name, value)) }

  mutating func replaceLast(_ name: HTTPHeaderName, with value: String) {
    if let last = fields.lastIndex(where: { $0.name == name }) { fields[last].value = value }
  }

  /// Removes all field lines with this name.
  public mutating func remove(_ name: HTTPHeaderName) { fields.removeAll { $0.name == name } }

  /// Merges `others` into these fields. If a name is in both, only the values in `others` are kept.
  public mutating func replace(with others: HTTPHeaders) {
    guard !others.isEmpty else { return }
    guard !isEmpty else { return fields = others.fields }
    if others.fields.count < 32 {
      fields.removeAll { mine in others.contains(mine.name) }
    } else {
      let names = Set(others.fields.map(\.name))
      fields.removeAll { names.contains($0.name) }
    }
    fields.append(contentsOf: others.fields)
  }

  /// Returns these fields with the changes between `before` and `after` applied. Replaces all values of each changed
  /// field.
  func applying(changesFrom before: HTTPHeaders, to after: HTTPHeaders) -> HTTPHeaders {
    var result = self
    var changed = HTTPHeaders()
    for field in after where before.values(for: field.name) != after.values(for: field.name) {
      changed.fields.append(field)
    }
    result.replace(with: changed)
    result.fields.removeAll { before.contains($0.name) && !after.contains($0.name) }
    return result
  }

  /// Sets a field unless it is already present.
  public mutating func setDefault(_ value: String, for name: HTTPHeaderName) {
    if !contains(name) { fields.append(Field(name, value)) }
  }

  /// The first field that can't be sent, or `nil` if all fields can be sent. A name must be a token. A value must not
  /// contain a line break, which could inject another field, or a NUL (RFC 9110 §5.5).
  public var firstInvalid: Field? {
    fields.first { field in
      !field.name.isValid || !field.value.hasOnlyBytes { $0 != 0x0D && $0 != 0x0A && $0 != 0 }
    }
  }

  package var size: Int { fields.reduce(0) { $0 + $1.size } }

  private func firstIndex(of name: HTTPHeaderName) -> Int? {
    // Access `fields` by index to avoid copying each field. Most names differ in length, so comparing them is cheap.
    for index in fields.indices where fields[index].name == name { return index }
    return nil
  }

  package mutating func reserve(_ count: Int) { fields.reserveCapacity(count) }

  private mutating func removeDuplicates(of name: HTTPHeaderName, after first: Int) {
    let rest = fields[(first + 1)...]
    guard rest.contains(where: { $0.name == name }) else { return }
    fields.replaceSubrange((first + 1)..., with: rest.filter { $0.name != name })
  }
}

extension HTTPHeaders: RandomAccessCollection {
  /// Always 0.
  public var startIndex: Int { 0 }
  /// The number of field lines.
  public var endIndex: Int { fields.count }
  /// The field line at a position.
  public subscript(position: Int) -> Field { fields[position] }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
  /// Creates a header from a literal, in order. Names can be repeated.
  public init(dictionaryLiteral elements: (HTTPHeaderName, String)...) {
    fields = elements.map { Field($0, $1) }
  }
}
