import Errand

/// A path that a server knows, and what it answers there.
struct MockRoute: Sendable {
  /// The way in which an answer is found.
  enum Source: Sendable {
    /// It is known before the request.
    case answer(MockAnswer)
    /// It is made from the whole request.
    case handler(@Sendable (MockRequest) -> MockAnswer)
  }

  let method: HTTPMethod?
  let path: String
  let source: Source
  private let segments: [Substring]

  /// A route for one method, or for all of them.
  init(_ method: HTTPMethod?, _ path: String, _ source: Source) {
    self.method = method
    self.path = path
    self.source = source
    segments = path.split(separator: "/")
  }

  /// The values of the placeholders in a path with these segments; nil when it is not this route's.
  func match(_ method: HTTPMethod, _ other: [String]) -> [String: String]? {
    guard self.method == nil || self.method == method else { return nil }
    var parameters: [String: String] = [:]
    for (index, segment) in segments.enumerated() {
      if segment == "*" {
        parameters["*"] = other.dropFirst(index).joined(separator: "/")
        return parameters
      }
      guard index < other.count else { return nil }
      if segment.hasPrefix(":") {
        parameters[String(segment.dropFirst())] = other[index]
      } else if segment != other[index] {
        return nil
      }
    }
    return segments.count == other.count ? parameters : nil
  }
}

extension MockRoute: CustomStringConvertible {
  var description: String { "\(method?.rawValue ?? "any") \(path)" }
}
