import Errand
import Tracing

/// An instrument that sends and reads W3C Trace Context, as OpenTelemetry's instruments do.
struct W3CInstrument: Instrument {
  enum Key: ServiceContextKey {
    typealias Value = TraceContext
  }

  func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {
    for field in context[Key.self]?.headers ?? [:] {
      injector.inject(field.value, forKey: field.name.rawName, into: &carrier)
    }
  }

  func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {
    var headers = HTTPHeaders()
    for name in [HTTPHeaderName.traceparent, .tracestate, .baggage] {
      headers[name] = extractor.extract(key: name.rawName, from: carrier)
    }
    context[Key.self] = TraceContext(headers)
  }
}
