import Errand

/// A path on the server and its answer.
struct MockRoute: Sendable {
  enum Source: Sendable {
    /// A fixed answer, known before the request.
    case answer(MockAnswer)
    /// An answer created from the complete request.
    case handler(@Sendable (MockRequest) -> MockAnswer)

    /// Returns a source whose answers have the fault.
    func with(_ fault: Chaos.Fault) -> Source {
      switch self {
      case .answer(let answer): .answer(fault.change(answer))
      case .handler(let handler): .handler { fault.change(handler($0)) }
      }
    }
  }

  let method: HTTPMethod?
  let path: String
  let source: Source
  private let segments: [Substring]

  /// - Parameter method: The method, or `nil` for any method.
  init(_ method: HTTPMethod?, _ path: String, _ source: Source) {
    self.method = method
    self.path = path
    self.source = source
    segments = path.split(separator: "/")
  }

  /// Returns the values of the placeholders, or `nil` if the route does not match.
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
