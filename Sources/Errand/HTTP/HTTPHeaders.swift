/// The header fields of a message: in order, many values for a name where the sender gave many.
///
///     var headers: HTTPHeaders = ["Accept": "application/json"]
///     headers[.ifNoneMatch] = "\"abc\""          // replaces what was there
///     headers.add("a=1", for: .setCookie)         // keeps what was there
public struct HTTPHeaders: Sendable, Hashable {
  /// One line of the header.
  public struct Field: Sendable, Hashable {
    /// The field's name.
    public var name: HTTPHeaderName
    /// The field's value, without the white space around it.
    public var value: String

    /// A field by name and value.
    public init(_ name: HTTPHeaderName, _ value: String) {
      self.name = name
      self.value = value
    }

    /// Two fields are the same when their names are, in any case of letters, and the bytes of their values.
    public static func == (left: Field, right: Field) -> Bool {
      left.name == right.name && left.value.hasSameBytes(as: right.value)
    }

    /// The most bytes it may take over the wire, as nghttp2 reckons: 12 are for its framing.
    package var size: Int { name.rawName.utf8.count + value.utf8.count + 12 }
  }

  /// The fields in the order in which they were received, or will be sent.
  public private(set) var fields: [Field]

  /// No fields.
  public init() { fields = [] }

  /// The given fields, in order, with duplicates.
  public init(_ fields: [Field]) { self.fields = fields }

  /// The value of a field; several lines of it are joined with `, ` (RFC 9110 §5.3). Setting replaces all of them,
  /// in the place of the first; nil removes them.
  ///
  /// `Set-Cookie` cannot be joined: read it with ``values(for:)``.
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

  /// Leaves out what says where the body ends: it was said of another one.
  mutating func removeFraming() { fields.removeAll { $0.name.isOfFraming } }

  /// Every line of a field, in order.
  public func values(for name: HTTPHeaderName) -> [String] {
    fields.filter { $0.name == name }.map(\.value)
  }

  /// True when the field is there at all.
  public func contains(_ name: HTTPHeaderName) -> Bool { firstIndex(of: name) != nil }

  /// Adds one more line, whatever is there already.
  public mutating func add(_ value: String, for name: HTTPHeaderName) { fields.append(Field(name, value)) }

  /// Replaces the last line of a field, where there is one.
  mutating func replaceLast(_ name: HTTPHeaderName, with value: String) {
    if let last = fields.lastIndex(where: { $0.name == name }) { fields[last].value = value }
  }

  /// Removes every line of a field.
  public mutating func remove(_ name: HTTPHeaderName) { fields.removeAll { $0.name == name } }

  /// Lays `others` over these: a name that is in both has only the lines of `others` afterwards.
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

  /// These fields with what was changed in `before` to make it `after`, name by name with all lines of each.
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

  /// Sets a field unless it is there already.
  public mutating func setDefault(_ value: String, for name: HTTPHeaderName) {
    if !contains(name) { fields.append(Field(name, value)) }
  }

  /// The first field that may not be sent: a name that is no token, or a value with a line break or a NUL in it,
  /// which would let it smuggle a line of its own (RFC 9110 §5.5). Nil when all may.
  public var firstInvalid: Field? {
    fields.first { field in
      !field.name.isValid || !field.value.hasOnlyBytes { $0 != 0x0D && $0 != 0x0A && $0 != 0 }
    }
  }

  /// The most bytes they may take over the wire.
  package var size: Int { fields.reduce(0) { $0 + $1.size } }

  private func firstIndex(of name: HTTPHeaderName) -> Int? {
    // Names differ in length for the most part, and a field that is looked at is not copied here.
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
  /// The number of lines.
  public var endIndex: Int { fields.count }
  /// The line at a position.
  public subscript(position: Int) -> Field { fields[position] }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
  /// Fields in the order of the literal; a name may come more than once.
  public init(dictionaryLiteral elements: (HTTPHeaderName, String)...) {
    fields = elements.map { Field($0, $1) }
  }
}
