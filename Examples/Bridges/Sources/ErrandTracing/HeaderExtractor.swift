import Errand
import Tracing

/// Reads a tracer's values from headers.
struct HeaderExtractor: Extractor {
  func extract(key: String, from headers: HTTPHeaders) -> String? { headers[HTTPHeaderName(key)] }
}
