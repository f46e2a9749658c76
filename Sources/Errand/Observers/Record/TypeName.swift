/// A cache of type names, because getting a name from Swift takes a microsecond.
package enum TypeName {
  private static let names = Lock<[ObjectIdentifier: String]>([:])

  package static func of(_ type: Any.Type) -> String {
    let key = ObjectIdentifier(type)
    if let name = names.withLock({ $0[key] }) { return name }
    let name = "\(type)"
    names.withLock { $0[key] = name }
    return name
  }
}
