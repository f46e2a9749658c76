import Errand
import Tracing

/// Writes what a tracer sends on into header fields.
struct HeaderInjector: Injector {
  func inject(_ value: String, forKey key: String, into headers: inout HTTPHeaders) {
    headers[HTTPHeaderName(key)] = value
  }
}
