import Errand
import HTTPTypes

extension HTTPFields {
  /// The same fields in the same order, each line one of its own: several of `Set-Cookie` stay several.
  /// Throws an error of that code for one that HTTPTypes would change: its initializer puts a blank in the place of what is not valid.
  init(_ headers: HTTPHeaders, or code: TaskError.Code) throws(TaskError) {
    self.init()
    for field in headers {
      guard let name = HTTPField.Name(field.name.rawName), HTTPField.isValidValue(field.value) else {
        // The name alone: the value may be a secret.
        throw TaskError(code, "HTTPTypes cannot carry the field '\(field.name)'")
      }
      append(HTTPField(name: name, value: field.value))
    }
  }
}

extension HTTPHeaders {
  /// The same fields in the same order. The lines of `Cookie`, which HTTP/2 may divide, become one again (RFC 9113 §8.2.3).
  /// Throws an error of that code for one that is not UTF-8.
  init(_ fields: HTTPFields, or code: TaskError.Code) throws(TaskError) {
    self.init()
    for field in fields {
      let name = HTTPHeaderName(field.name.rawName)
      guard field.withUnsafeBytesOfValue({ $0.elementsEqual(field.value.utf8) }) else {
        throw TaskError(code, "the value of the field '\(name)' is not UTF-8")
      }
      if name == .cookie, let earlier = self[name] {
        self[name] = "\(earlier); \(field.value)"
      } else {
        add(field.value, for: name)
      }
    }
  }
}
