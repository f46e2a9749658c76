/// The place of some work in a trace: what goes from service to service, so that what each of them did is seen as one (W3C Trace
/// Context).
///
///     // in a service of yours, for each request that comes in:
///     try await TraceContext.$current.withValue(TraceContext(request.headers)) {
///       try await GetWidget(id: 7).download()  // is sent with `traceparent`, `tracestate` and `baggage`
///     }
///
/// Calls take part in the trace of the ``current`` context. What is sent names the attempt as its parent: the receiver's spans hang below
/// it. The three fields go to the remote's origin and to ``ServerConfiguration/trustedOrigins``, and nowhere else; a task or a step
/// that sets `traceparent` itself is left alone. ``ServerConfiguration/propagatesTraces`` switches them off.
public struct TraceContext: Sendable, Hashable {
  /// The trace.
  public var traceID: TraceID
  /// The span that is the parent of whatever follows.
  public var spanID: SpanID
  /// True where an earlier participant has decided to record the trace.
  public var isSampled: Bool
  /// True where the trace's identifier was drawn at random, so that others may sample by it (level 2).
  public var isRandom: Bool
  /// What the tracing systems on the way have noted for themselves.
  public var state: TraceState
  /// Names and values that travel with the trace.
  public var baggage: Baggage

  /// The context of the surrounding Swift task; nil where there is none.
  @TaskLocal public static var current: TraceContext?

  /// A context by its parts.
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

  /// The context that the header of a request states; nil where it states none, or none that can be read (§3.2). A `tracestate` that
  /// cannot be read is left out, and of a `baggage` the members that cannot.
  public init?(_ headers: HTTPHeaders) {
    let parents = headers.values(for: .traceparent)
    guard parents.count == 1, let parent = parents.first else { return nil }
    self.init(traceparent: parent)
    state = TraceState(headers.values(for: .tracestate)) ?? TraceState()
    baggage = Baggage(headers.values(for: .baggage))
  }

  /// The context that a value of `traceparent` states; nil for one that is malformed.
  ///
  /// Of a version that is not known the parts of version 00 are read (§3.2.2.1 and §4).
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

  /// The value of `traceparent`, version 00.
  public var traceparent: String {
    // Made for each request that is sent: in one piece.
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

  /// The header fields by which it is sent on.
  public var headers: HTTPHeaders {
    var headers: HTTPHeaders = [.traceparent: traceparent]
    if let state = state.description.nonEmpty { headers[.tracestate] = state }
    if let baggage = baggage.description.nonEmpty { headers[.baggage] = baggage }
    return headers
  }

  /// Adds the header fields by which it is sent on, but for those that are there.
  func add(to headers: inout HTTPHeaders) {
    guard state.members.isEmpty, baggage.members.isEmpty else {
      for field in self.headers where !headers.contains(field.name) { headers.add(field.value, for: field.name) }
      return
    }
    headers.setDefault(traceparent, for: .traceparent)
  }
}

/// The identifier of a trace: 16 bytes, not all of them zero.
public struct TraceID: Sendable, Hashable, CustomStringConvertible {
  /// The first 8 bytes.
  public let high: UInt64
  /// The last 8 bytes.
  public let low: UInt64

  /// An identifier; nil for one of zeros.
  public init?(high: UInt64, low: UInt64) {
    guard high != 0 || low != 0 else { return nil }
    (self.high, self.low) = (high, low)
  }

  /// 32 hexadecimal digits in small letters.
  public var description: String { high.sixteenDigits + low.sixteenDigits }
}

/// The identifier of a span: 8 bytes, not all of them zero.
public struct SpanID: Sendable, Hashable, CustomStringConvertible {
  /// The bytes.
  public let bits: UInt64

  /// An identifier; nil for one of zeros.
  public init?(_ bits: UInt64) {
    guard bits != 0 else { return nil }
    self.bits = bits
  }

  /// One of a number of which any will do.
  init(nonZero bits: UInt64) { self.bits = bits == 0 ? 1 : bits }

  /// 16 hexadecimal digits in small letters.
  public var description: String { bits.sixteenDigits }

  /// The identifier of the part of that number of this span: always the same one, and none of another's but by chance.
  package func part(_ number: Int) -> SpanID {
    // A permutation of the numbers (SplitMix64).
    var mixed = bits &+ UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return SpanID(nonZero: mixed ^ (mixed >> 31))
  }
}

extension HTTPHeaderName {
  /// `traceparent`
  public static let traceparent: HTTPHeaderName = "traceparent"
  /// `tracestate`
  public static let tracestate: HTTPHeaderName = "tracestate"
  /// `baggage`
  public static let baggage: HTTPHeaderName = "baggage"
}

extension UInt64 {
  private static let digits: StaticString = "0123456789abcdef"

  /// Itself in hexadecimal, with all 16 digits.
  fileprivate var sixteenDigits: String {
    String(unsafeUninitializedCapacity: 16) { buffer in
      writeDigits(to: buffer, at: 0)
      return 16
    }
  }

  /// Writes all 16 hexadecimal digits.
  func writeDigits(to buffer: UnsafeMutableBufferPointer<UInt8>, at start: Int) {
    let digits = Self.digits.utf8Start
    for index in 0..<16 { buffer[start + index] = digits[Int((self >> UInt64(60 - 4 * index)) & 15)] }
  }
}

extension String {
  /// The text; nil where there is none.
  var nonEmpty: String? { isEmpty ? nil : self }
}

/// Reads hexadecimal numbers in small letters, as these fields have them.
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
