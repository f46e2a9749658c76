extension CodingKey {
  /// The index of an array element. `nil` for a name, even if the name is a number.
  var place: Int? { intValue.flatMap { stringValue == "Index \($0)" ? $0 : nil } }

  /// Whether the key is a case of an enumeration. A type declares only a few such keys. Other keys, such as those of a
  /// dictionary, come from the peer, which can send any number of them.
  var isDeclared: Bool {
    Mirror(reflecting: self).displayStyle == .enum && !"\(Self.self)".hasPrefix("_")  // the decoders' own key types
  }
}
