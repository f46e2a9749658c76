import Errand
import Tracing

extension Span {
  /// Notes the method of a request.
  func note(_ method: HTTPMethod) {
    updateAttributes { attributes in
      attributes["http.request.method"] = method.conventionalName ?? "_OTHER"
      if method.conventionalName == nil { attributes["http.request.method_original"] = method.rawValue }
    }
  }

  /// Notes where a request goes.
  func note(_ origin: Origin) {
    updateAttributes { attributes in
      // An address of version 6 stands in brackets in URLs alone.
      attributes["server.address"] = String(origin.host.trimmingPrefix("[").prefix { $0 != "]" })
      attributes["server.port"] = origin.port
    }
  }

  /// Notes the status of a response, which is an error from 400 on.
  func note(_ status: HTTPStatus) {
    attributes["http.response.status_code"] = status.code
    if status.code >= 400 { fail("\(status.code)") }
  }

  /// Notes a failure by its fixed name alone: its words may name what the task hides.
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

  /// The name of a method that the conventions know; nil for any other, of which there may be many.
  var conventionalName: String? { Self.known.contains(self) ? rawValue : nil }
}
