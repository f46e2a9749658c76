public import ErrandFoundation

/// Encodes and decodes payloads. `Data` and `String` are themselves, never JSON.
///
/// Encoding leaves the caller's actor by itself, because an app may call for a body; decoding is done by calls, which
/// are on no actor.
enum PayloadCoding {
  /// The body for `payload`; none for one that is nil, as no body is read as nil.
  @concurrent static func encode<Payload: Encodable & Sendable>(
    _ payload: Payload, with encoder: any BodyEncoder
  ) async throws -> HTTPBody {
    if Payload.self == NoContent.self { return .empty }
    if let optional = payload as? any OptionalValue, optional.isNil { return .empty }
    // A form has names: its encoder refuses what has none.
    if !(encoder is FormEncoder) {
      if let data = payload as? Data { return .bytes(data, type: .octetStream) }
      if let text = payload as? String { return .text(text) }
    }
    do {
      return .bytes(try encoder.encode(payload), type: encoder.mediaType)
    } catch {
      throw TaskError(
        .encodingFailed, "can't encode \(Payload.self): \(explain(error))",
        phase: .preparing, underlying: error)
    }
  }

  /// The payload that `data` describes.
  ///
  /// - Parameters:
  ///   - type: The payload's type.
  ///   - data: The body.
  ///   - mediaType: The type that the header declares.
  ///   - origin: The place of the data in words, where it is no whole body.
  ///   - decoder: Decodes all but bytes and text.
  ///   - keys: The keys that lead to the payload; empty where the body is it.
  ///   - redaction: Hides secrets in what the error shows of the body; where it is nil, the error shows nothing of it.
  static func decode<Payload: Decodable & Sendable>(
    _ type: Payload.Type, from data: Data, mediaType: @autoclosure () -> MediaType? = nil,
    origin: @autoclosure () -> String? = nil, with decoder: any PayloadDecoder, at keys: [String] = [],
    redaction: @autoclosure () -> Redaction?
  ) throws -> Payload {
    if type == NoContent.self, let payload = NoContent() as? Payload { return payload }
    if keys.isEmpty, isBody(type), let payload = try body(type, data, mediaType()) { return payload }
    do {
      // An empty body is nil for an optional payload, and not enough for any other.
      if data.isEmpty, let payload = nothing(as: type) { return payload }
      // Checks the bytes before the decoder: a cast costs more than most steps of a call.
      if PropertyListDepth.concerns(data), decoder is PropertyListDecoder { try PropertyListDepth.check(data) }
      guard !keys.isEmpty else { return try decoder.decode(type, from: data) }
      return try Envelope.$keys.withValue(keys) { try decoder.decode(Enveloped<Payload>.self, from: data).payload }
    } catch {
      let mediaType = mediaType()
      let redaction = redaction().flatMap { $0.hidesBody(of: mediaType) ? nil : $0 }
      let excerpt = redaction?.excerpt(of: inUTF8(data, mediaType), type: mediaType, count: 100) ?? ""
      let origin = origin() ?? mediaType.map { "of \($0.essence)" } ?? "without a content type"
      let why =
        data.isEmpty
        ? TaskError.emptyBodyReason
        : redaction.map { explain(error, of: data, excerpt, mediaType, $0, hint: hint(for: error, decoder)) }
          ?? explainUnshown(error)
      throw TaskError(
        .decodingFailed,
        "can't decode \(Payload.self)\(keys.isEmpty ? "" : " at '\(keys.joined(separator: "."))'") from \(data.count) bytes \(origin): \(why)",
        phase: .finishing, underlying: error)
    }
  }

  /// True for a payload that is the body itself, and is not decoded.
  @inline(__always)
  private static func isBody<Payload>(_ type: Payload.Type) -> Bool {
    type == Data.self || type == String.self || type == Data?.self || type == String?.self
  }

  // Not inlined, nor the next: the type of an optional of a payload is looked up where it is named.
  @inline(never)
  private static func body<Payload>(_ type: Payload.Type, _ data: Data, _ mediaType: MediaType?) throws -> Payload? {
    if type == Data.self { return data as? Payload }
    if type == String.self { return try payload(data, mediaType) as? Payload }
    if type == Data?.self { return (data.isEmpty ? nil : data) as Data? as? Payload }
    return try (data.isEmpty ? nil : payload(data, mediaType)) as String? as? Payload
  }

  /// The payload that an empty body is; nil for a type that is not optional.
  @inline(never)
  private static func nothing<Payload: Decodable>(as type: Payload.Type) -> Payload? {
    type == JSONValue.self ? nil : try? Payload(from: NothingDecoder())
  }

  /// The place and reason of a decoding failure. Data in no such format is shown: a page says more than a parser.
  private static func explain(
    _ error: any Error, of data: Data, _ excerpt: String, _ mediaType: MediaType?, _ redaction: Redaction, hint: String
  ) -> String {
    if let place = secretPlace(of: error, redaction) {
      let isHidden = String(decoding: data, as: UTF8.self).contains("\"\(Redaction.mark)\"")
      let why =
        ": recorded responses have '\(Redaction.mark)' in the place of secrets; ReplayOptions.redaction says of which"
      return "at \(place): the value does not fit\(isHidden ? why : "")"
    }
    let words = redaction(text: explain(error)) + hint
    guard !excerpt.isEmpty else { return words }
    if mediaType?.essence == "text/html" { return excerpt }
    return "\(words)\(words.hasSuffix(".") ? "" : ".") It begins with: \(excerpt)"
  }

  /// What a decoder for JSON takes dates for, where it may have met another.
  private static func hint(for error: any Error, _ decoder: any PayloadDecoder) -> String {
    guard let decoder = decoder as? JSONDecoder, case .deferredToDate = decoder.dateDecodingStrategy,
      case DecodingError.typeMismatch(let type, let context) = error, type == Double.self,
      context.debugDescription.contains("found a string")
    else { return "" }
    return " If it is a date: that is a number of seconds to a decoder without a dateDecodingStrategy."
  }

  /// The place and reason of a decoding failure, without a value: what a type says of itself may quote it, and the keys of a
  /// dictionary are the body's.
  private static func explainUnshown(_ error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, let context):
      "\(shownPath(context.codingPath))no key '\(shownKey(key))'"
    case DecodingError.typeMismatch(let type, let context):
      shownPath(context.codingPath)
        + (kinds.first { context.debugDescription.contains(" but found \($0) instead") }.map {
          "Expected to decode \(type) but found \($0) instead."
        } ?? "the value does not fit")
    case DecodingError.valueNotFound(_, let context):
      shownPath(context.codingPath)
        + (context.debugDescription.hasSuffix("is at end.") ? "the list ends before it" : "no value but null")
    case DecodingError.dataCorrupted(let context):
      shownPath(context.codingPath)
        + (unreadable.contains(context.debugDescription) ? context.debugDescription : "the value does not fit")
    default: "the value does not fit"  // an error of the app's own, or of another decoder
    }
  }

  /// What a decoder calls a value that it found.
  private static let kinds = ["a string", "a number", "bool", "null", "an array", "a dictionary"]
  /// What decoders say of data that is in no such format.
  private static let unreadable: Set = [
    "The given data was not valid JSON.", "The given data was not a valid property list.",
  ]

  private static func shownPath(_ keys: [any CodingKey]) -> String {
    keys.isEmpty ? "" : "at \(keys.map(shownKey).joined(separator: ".")): "
  }

  private static func shownKey(_ key: any CodingKey) -> String {
    key.place.map(String.init) ?? (key.isDeclared ? key.stringValue : "*")
  }

  /// The body as text: in the charset that the header declares, else in UTF-8. Where none is declared, unreadable bytes are
  /// replaced.
  private static func declaredText(_ data: Data, _ mediaType: MediaType?) throws(Charset.Problem) -> String {
    guard let charset = mediaType?.parameter("charset"), !charset.isEmpty else {
      return String(decoding: data, as: UTF8.self)
    }
    return try Charset.text(of: data, in: charset)
  }

  /// The body as text, as far as it can be read: in UTF-8, unreadable bytes replaced, where the declared charset will not do.
  static func text(_ data: Data, _ mediaType: MediaType?) -> String {
    (try? declaredText(data, mediaType)) ?? String(decoding: data, as: UTF8.self)
  }

  /// Bytes in UTF-8, where they are text in another charset that is declared and known; a character that is cut is left out.
  static func inUTF8(_ data: Data, _ mediaType: MediaType?) -> Data {
    guard let charset = mediaType?.parameter("charset"), !charset.isEmpty else { return data }
    // RFC 8259 §8.1: JSON is in UTF-8 whatever is declared. In UTF-16 and UTF-32 it has bytes that are 0.
    let isPlainJSON =
      mediaType?.essence.hasSuffix("json") == true && !data.contains(0) && String(data: data, encoding: .utf8) != nil
    if isPlainJSON { return data }
    let text = (0..<4).lazy.compactMap { try? Charset.text(of: Data(data.dropLast($0)), in: charset) }.first
    return text.map { Data($0.utf8) } ?? data
  }

  /// The body as a payload of text.
  private static func payload(_ data: Data, _ mediaType: MediaType?) throws -> String {
    do {
      return try declaredText(data, mediaType)
    } catch {
      throw TaskError(
        .decodingFailed,
        "can't decode String from \(data.count) bytes of \(mediaType?.essence ?? "no type"): \(error.words)",
        phase: .finishing, underlying: error)
    }
  }

  /// The place and reason of a failure, in words.
  static func explain(_ error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, let context): "\(path(context.codingPath))no key '\(key.stringValue)'"
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
      DecodingError.dataCorrupted(let context):
      "\(path(context.codingPath))\(context.debugDescription)"
    case EncodingError.invalidValue(_, let context): "\(path(context.codingPath))\(context.debugDescription)"
    default: "\(error)"
    }
  }

  /// The place of an error in a value that has a secret name: what the decoder says of it may quote it.
  private static func secretPlace(of error: any Error, _ redaction: Redaction) -> String? {
    let keys: [any CodingKey] =
      switch error {
      case DecodingError.typeMismatch(_, let context), DecodingError.dataCorrupted(let context): context.codingPath
      default: []
      }
    return keys.contains { redaction.isSecret($0.stringValue) } || redaction.hidesValue(at: keys) ? place(keys) : nil
  }

  private static func path(_ keys: [any CodingKey]) -> String { keys.isEmpty ? "" : "at \(place(keys)): " }

  private static func place(_ keys: [any CodingKey]) -> String {
    keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
  }
}

/// Decodes nothing: what an empty body is. Only an optional can be made of it.
private struct NothingDecoder: Decoder, SingleValueDecodingContainer {
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  private var nothing: DecodingError {
    .dataCorrupted(.init(codingPath: [], debugDescription: "The body is empty."))
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw nothing }
  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw nothing }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
  func decodeNil() -> Bool { true }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { throw nothing }
}

/// Turns a value into the bytes of a request body.
public protocol BodyEncoder: Sendable {
  /// The media type of the bytes; sent as `Content-Type`.
  var mediaType: MediaType { get }

  /// The bytes of `value`. Throws when it cannot be encoded; the request is then not sent.
  func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension JSONEncoder: BodyEncoder {
  /// `application/json`.
  public var mediaType: MediaType { .json }
}

/// Turns the bytes of a response body into a value.
public protocol PayloadDecoder: Sendable {
  /// The value that `data` describes. Throws when it describes none.
  func decode<Payload: Decodable>(_ type: Payload.Type, from data: Data) throws -> Payload
}

extension JSONDecoder: PayloadDecoder {}

extension PropertyListEncoder: BodyEncoder {
  /// `application/x-plist`.
  public var mediaType: MediaType { .propertyList }
}

extension PropertyListDecoder: PayloadDecoder {}

extension TaskError {
  /// The body as text, in the charset that its header declares, else in UTF-8; nil where it is none.
  public var bodyText: String? {
    String(data: PayloadCoding.inUTF8(body, headers.mediaType), encoding: .utf8)
  }
}
