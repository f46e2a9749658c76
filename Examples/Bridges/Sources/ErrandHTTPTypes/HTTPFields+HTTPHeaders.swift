import Errand
import HTTPTypes

extension HTTPFields {
  /// Copies the fields in order. Repeated fields such as `Set-Cookie` stay separate.
  ///
  /// Throws an error with `code` for a field that HTTPTypes would change, because its initializer replaces invalid
  /// characters with spaces.
  init(_ headers: HTTPHeaders, or code: TaskError.Code) throws(TaskError) {
    self.init()
    for field in headers {
      guard let name = HTTPField.Name(field.name.rawName), HTTPField.isValidValue(field.value) else {
        // Include only the name, because the value may be secret.
        throw TaskError(code, "HTTPTypes can't represent the field '\(field.name)'")
      }
      append(HTTPField(name: name, value: field.value))
    }
  }
}

extension HTTPHeaders {
  /// Copies the fields in order. Joins `Cookie` lines, which HTTP/2 may split (RFC 9113 §8.2.3).
  ///
  /// Throws an error with `code` for a value that is not UTF-8.
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
