import Errand
import Tracing

/// Reads what a tracer has sent from header fields.
struct HeaderExtractor: Extractor {
  func extract(key: String, from headers: HTTPHeaders) -> String? { headers[HTTPHeaderName(key)] }
}
