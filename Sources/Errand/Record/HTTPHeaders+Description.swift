extension HTTPHeaders: CustomStringConvertible {
  /// One line a field, secrets hidden as ``Redaction/standard`` has it.
  public var description: String { fields.map { "\($0)" }.joined(separator: "\n") }
}

extension HTTPHeaders.Field: CustomStringConvertible {
  /// Name and value, secrets hidden.
  public var description: String { "\(name): \(Redaction.standard.value(of: self))" }
}

extension HTTPQuery: CustomStringConvertible {
  /// The query as it stands in a URL, secrets hidden.
  public var description: String { Redaction.standard.pairs(encoded[...]) }
}
