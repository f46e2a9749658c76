/// The names of types, each asked of Swift once: that costs a microsecond.
package enum TypeName {
  private static let names = Lock<[ObjectIdentifier: String]>([:])

  /// The name of a type, as Swift prints it.
  package static func of(_ type: Any.Type) -> String {
    let key = ObjectIdentifier(type)
    if let name = names.withLock({ $0[key] }) { return name }
    let name = "\(type)"
    names.withLock { $0[key] = name }
    return name
  }
}
