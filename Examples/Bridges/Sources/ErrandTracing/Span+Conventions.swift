import Errand
import Tracing

extension Span {
  /// Sets the method of a request.
  func note(_ method: HTTPMethod) {
    updateAttributes { attributes in
      attributes["http.request.method"] = method.conventionalName ?? "_OTHER"
      if method.conventionalName == nil { attributes["http.request.method_original"] = method.rawValue }
    }
  }

  /// Sets the target of a request.
  func note(_ origin: Origin) {
    updateAttributes { attributes in
      // The conventions omit the brackets around IPv6 addresses.
      attributes["server.address"] = String(origin.host.trimmingPrefix("[").prefix { $0 != "]" })
      attributes["server.port"] = origin.port
    }
  }

  /// Sets the status of a response. A status of 400 or above is an error.
  func note(_ status: HTTPStatus) {
    attributes["http.response.status_code"] = status.code
    if status.code >= 400 { fail("\(status.code)") }
  }

  /// Sets an error's fixed name but not its message, which may contain secrets that the task hides.
  func note(_ error: any Error) {
    fail(error is CancellationError ? "cancelled" : (error as? TaskError)?.code.name ?? "\(type(of: error))")
  }

  private func fail(_ type: String) {
    attributes["error.type"] = type
    setStatus(SpanStatus(code: .error))
  }
}

extension HTTPMethod {
  private static let known: Set<HTTPMethod> = [
    .get, .head, .post, .put, .delete, .connect, .options, .trace, .patch, .query,
  ]

  /// The method's name according to the conventions, or `nil` for an unknown method, because an attribute must not have
  /// an unlimited number of values.
  var conventionalName: String? { Self.known.contains(self) ? rawValue : nil }
}
