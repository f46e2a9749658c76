import Errand
import Tracing

/// Writes a tracer's values to headers.
struct HeaderInjector: Injector {
  func inject(_ value: String, forKey key: String, into headers: inout HTTPHeaders) {
    headers[HTTPHeaderName(key)] = value
  }
}
