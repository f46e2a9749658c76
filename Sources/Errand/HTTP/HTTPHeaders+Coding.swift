extension HTTPHeaders: Codable {
  /// Decodes an array of fields.
  public init(from decoder: any Decoder) throws { self.init(try [Field](from: decoder)) }

  /// Encodes an array of fields, in order. All values are encoded, including secrets.
  public func encode(to encoder: any Encoder) throws { try fields.encode(to: encoder) }
}

extension HTTPHeaders.Field: Codable {
  private enum CodingKeys: String, CodingKey { case name, value }

  /// Decodes an object with a `name` and a `value`.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      HTTPHeaderName(try fields.decode(String.self, forKey: .name)), try fields.decode(String.self, forKey: .value))
  }

  /// Encodes an object with a `name` and a `value`.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(name.rawName, forKey: .name)
    try fields.encode(value, forKey: .value)
  }
}
