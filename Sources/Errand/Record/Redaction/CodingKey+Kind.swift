extension CodingKey {
  /// The place of an element of an array; nil for a name, which may be a number too.
  var place: Int? { intValue.flatMap { stringValue == "Index \($0)" ? $0 : nil } }

  /// True for the case of an enumeration, of which a type declares a few. The names of dictionaries, and of types that take any, are the
  /// peer's, which makes up any number.
  var isDeclared: Bool {
    Mirror(reflecting: self).displayStyle == .enum && !"\(Self.self)".hasPrefix("_")  // those of decoders
  }
}
