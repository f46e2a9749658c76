/// The position of an operation in a distributed trace, which is propagated from service to service (W3C Trace
/// Context).
///
///     // In your service, for each incoming request:
///     try await TraceContext.$current.withValue(TraceContext(request.headers)) {
///       try await GetWidget(id: 7).send()  // sends `traceparent`, `tracestate` and `baggage`
///     }
///
/// Calls join the trace of the ``current`` context. Each request sends its attempt's span as the parent span, so the
/// receiver's spans appear below the attempt. The three fields are sent only to the remote's origin and to
/// ``ServerConfiguration/trustedOrigins``. If a task or step sets `traceparent`, it is left unchanged. Use
/// ``ServerConfiguration/propagatesTraces`` to turn propagation off.
public struct TraceContext: Sendable, Hashable {
  /// The identifier of the trace.
  public var traceID: TraceID
  /// The identifier of the span that is the parent of subsequent spans.
  public var spanID: SpanID
  /// Whether an earlier participant decided to record the trace.
  public var isSampled: Bool
  /// Whether the trace identifier is random, so that other participants can use it for sampling (Trace Context level
  /// 2).
  public var isRandom: Bool
  /// The data of the tracing systems that took part in the trace.
  public var state: TraceState
  /// The application's names and values, which are propagated with the trace.
  public var baggage: Baggage

  /// The context of the current Swift task, or `nil` outside a trace.
  @TaskLocal public static var current: TraceContext?

  /// Creates a context from its parts.
  public init(
    traceID: TraceID, spanID: SpanID, isSampled: Bool = true, isRandom: Bool = false,
    state: TraceState = TraceState(), baggage: Baggage = Baggage()
  ) {
    self.traceID = traceID
    self.spanID = spanID
    self.isSampled = isSampled
    self.isRandom = isRandom
    self.state = state
    self.baggage = baggage
  }

  /// Parses the context in the header of a request. Returns `nil` if `traceparent` is missing, repeated or malformed
  /// (§3.2). A malformed `tracestate` and malformed entries in `baggage` are ignored.
  public init?(_ headers: HTTPHeaders) {
    let parents = headers.values(for: .traceparent)
    guard parents.count == 1, let parent = parents.first else { return nil }
    self.init(traceparent: parent)
    state = TraceState(headers.values(for: .tracestate)) ?? TraceState()
    baggage = Baggage(headers.values(for: .baggage))
  }

  /// Parses a `traceparent` value. Returns `nil` if it is malformed.
  ///
  /// Values with an unknown version are parsed like version 00 (§3.2.2.1 and §4).
  public init?(traceparent: String) {
    var reader = HexReader(traceparent)
    guard let version = reader.number(digits: 2), version != 0xFF, reader.dash(),
      let high = reader.number(digits: 16), let low = reader.number(digits: 16), reader.dash(),
      let span = reader.number(digits: 16), reader.dash(), let flags = reader.number(digits: 2),
      reader.isAtEnd || (version > 0 && reader.dash()), let traceID = TraceID(high: high, low: low),
      let spanID = SpanID(span)
    else { return nil }
    self.init(traceID: traceID, spanID: spanID, isSampled: flags & 1 != 0, isRandom: flags & 2 != 0)
  }

  /// The `traceparent` value, in version 00.
  public var traceparent: String {
    // Written into one buffer, because this runs for every request.
    String(unsafeUninitializedCapacity: 55) { buffer in
      buffer.initialize(repeating: UInt8(ascii: "-"))
      buffer[0] = UInt8(ascii: "0")
      buffer[1] = UInt8(ascii: "0")
      traceID.high.writeDigits(to: buffer, at: 3)
      traceID.low.writeDigits(to: buffer, at: 19)
      spanID.bits.writeDigits(to: buffer, at: 36)
      buffer[53] = UInt8(ascii: "0")
      buffer[54] = UInt8(ascii: "0") + (isSampled ? 1 : 0) + (isRandom ? 2 : 0)
      return 55
    }
  }

  /// The header fields that propagate the context.
  public var headers: HTTPHeaders {
    var headers: HTTPHeaders = [.traceparent: traceparent]
    if let state = state.description.nonEmpty { headers[.tracestate] = state }
    if let baggage = baggage.description.nonEmpty { headers[.baggage] = baggage }
    return headers
  }

  func add(to headers: inout HTTPHeaders) {
    guard state.members.isEmpty, baggage.members.isEmpty else {
      for field in self.headers where !headers.contains(field.name) { headers.add(field.value, for: field.name) }
      return
    }
    headers.setDefault(traceparent, for: .traceparent)
  }
}

/// The identifier of a trace: 16 bytes that aren't all zero.
public struct TraceID: Sendable, Hashable, CustomStringConvertible {
  /// The first 8 bytes as a big-endian integer.
  public let high: UInt64
  /// The last 8 bytes as a big-endian integer.
  public let low: UInt64

  /// Creates an identifier. Returns `nil` if all bytes are zero.
  public init?(high: UInt64, low: UInt64) {
    guard high != 0 || low != 0 else { return nil }
    (self.high, self.low) = (high, low)
  }

  /// The identifier as 32 lowercase hexadecimal digits.
  public var description: String { high.sixteenDigits + low.sixteenDigits }
}

/// The identifier of a span: 8 bytes that aren't all zero.
public struct SpanID: Sendable, Hashable, CustomStringConvertible {
  /// The 8 bytes as a big-endian integer.
  public let bits: UInt64

  /// Creates an identifier. Returns `nil` if all bytes are zero.
  public init?(_ bits: UInt64) {
    guard bits != 0 else { return nil }
    self.bits = bits
  }

  /// Creates an identifier, replacing zero with 1.
  init(nonZero bits: UInt64) { self.bits = bits == 0 ? 1 : bits }

  /// The identifier as 16 lowercase hexadecimal digits.
  public var description: String { bits.sixteenDigits }

  /// Returns a span identifier derived from this identifier and `number`. The result is deterministic, and unique
  /// except for random collisions.
  package func part(_ number: Int) -> SpanID {
    // SplitMix64.
    var mixed = bits &+ UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return SpanID(nonZero: mixed ^ (mixed >> 31))
  }
}

extension HTTPHeaderName {
  /// The `traceparent` header field.
  public static let traceparent: HTTPHeaderName = "traceparent"
  /// The `tracestate` header field.
  public static let tracestate: HTTPHeaderName = "tracestate"
  /// The `baggage` header field.
  public static let baggage: HTTPHeaderName = "baggage"
}

extension UInt64 {
  private static let digits: StaticString = "0123456789abcdef"

  fileprivate var sixteenDigits: String {
    String(unsafeUninitializedCapacity: 16) { buffer in
      writeDigits(to: buffer, at: 0)
      return 16
    }
  }

  func writeDigits(to buffer: UnsafeMutableBufferPointer<UInt8>, at start: Int) {
    let digits = Self.digits.utf8Start
    for index in 0..<16 { buffer[start + index] = digits[Int((self >> UInt64(60 - 4 * index)) & 15)] }
  }
}

extension String {
  var nonEmpty: String? { isEmpty ? nil : self }
}

private struct HexReader {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = text[...].utf8 }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func dash() -> Bool { rest.popFirst() == UInt8(ascii: "-") }

  mutating func number(digits: Int) -> UInt64? {
    var number: UInt64 = 0
    for _ in 0..<digits {
      switch rest.popFirst() {
      case let digit? where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit):
        number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
      case let digit? where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(digit):
        number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return number
  }
}
