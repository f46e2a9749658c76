public import ErrandFoundation

/// Encodes and decodes payloads. `Data` and `String` are used as they are, never as JSON.
///
/// Encoding is `@concurrent` because an app may start it on an actor. Decoding isn't, because calls don't run on an
/// actor.
package enum PayloadCoding {
  /// Encodes `payload` as a body. The body is empty if `payload` is `nil`.
  @concurrent static func encode<Payload: Encodable & Sendable>(
    _ payload: Payload, with encoder: any BodyEncoder
  ) async throws -> HTTPBody {
    if Payload.self == NoContent.self { return .empty }
    if let optional = payload as? any OptionalValue, optional.isNil { return .empty }
    // A form encoder rejects `Data` and `String`, because a form needs names.
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

  /// Decodes the payload from `data`. If the payload is in an envelope, `keys` is the path to it.
  ///
  /// `origin` describes the source of the data in errors. It is `nil` if the data is the entire body. `redaction` hides
  /// secrets in the error's excerpt of the body. Without `redaction`, the error contains no excerpt.
  static func decode<Payload: Decodable & Sendable>(
    _ type: Payload.Type, from data: Data, mediaType: @autoclosure () -> MediaType? = nil,
    origin: @autoclosure () -> String? = nil, with decoder: any PayloadDecoder, at keys: [String] = [],
    redaction: @autoclosure () -> Redaction?
  ) throws -> Payload {
    if type == NoContent.self, let payload = NoContent() as? Payload { return payload }
    if keys.isEmpty, isBody(type), let payload = try body(type, data, mediaType()) { return payload }
    do {
      // An empty body decodes as `nil` if the payload is optional. Otherwise, decoding fails.
      if data.isEmpty, let payload = nothing(as: type) { return payload }
      // Check the bytes first: a cast costs more than most steps of a call.
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

  @inline(__always)
  private static func isBody<Payload>(_ type: Payload.Type) -> Bool {
    type == Data.self || type == String.self || type == Data?.self || type == String?.self
  }

  // Don't inline this and the next function: resolving the type of `Payload?` is costly.
  @inline(never)
  private static func body<Payload>(_ type: Payload.Type, _ data: Data, _ mediaType: MediaType?) throws -> Payload? {
    if type == Data.self { return data as? Payload }
    if type == String.self { return try payload(data, mediaType) as? Payload }
    if type == Data?.self { return (data.isEmpty ? nil : data) as Data? as? Payload }
    return try (data.isEmpty ? nil : payload(data, mediaType)) as String? as? Payload
  }

  /// Returns the payload for an empty body, or `nil` if the type is not optional.
  @inline(never)
  private static func nothing<Payload: Decodable>(as type: Payload.Type) -> Payload? {
    type == JSONValue.self ? nil : try? Payload(from: NothingDecoder())
  }

  /// Returns the location and reason of a decoding failure, or an excerpt of HTML, which is more helpful than the
  /// parser's error.
  private static func explain(
    _ error: any Error, of data: Data, _ excerpt: String, _ mediaType: MediaType?, _ redaction: Redaction, hint: String
  ) -> String {
    if let place = secretPlace(of: error, redaction) {
      let isHidden = String(decoding: data, as: UTF8.self).contains("\"\(Redaction.mark)\"")
      let why =
        ": recorded responses have '\(Redaction.mark)' instead of secrets; see ReplayOptions.redaction"
      return "at \(place): the value is invalid\(isHidden ? why : "")"
    }
    let words = redaction(text: explain(error)) + hint
    guard !excerpt.isEmpty else { return words }
    if mediaType?.essence == "text/html" { return "it is an HTML page that begins with: \(excerpt)" }
    return "\(words)\(words.hasSuffix(".") ? "" : ".") It begins with: \(excerpt)"
  }

  /// Returns a hint if a date is a string in the JSON, otherwise an empty string.
  private static func hint(for error: any Error, _ decoder: any PayloadDecoder) -> String {
    guard let decoder = decoder as? JSONDecoder, case .deferredToDate = decoder.dateDecodingStrategy,
      case DecodingError.typeMismatch(let type, let context) = error, type == Double.self,
      context.debugDescription.contains("found a string")
    else { return "" }
    return " If the value is a date, set the decoder's dateDecodingStrategy: by default, dates are numbers of seconds."
  }

  /// Returns the location and reason of a decoding failure, without any value or dictionary key from the body. Errors
  /// thrown by decodable types may quote values.
  private static func explainUnshown(_ error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, let context):
      "\(shownPath(context.codingPath))no key '\(shownKey(key))'"
    case DecodingError.typeMismatch(let type, let context):
      shownPath(context.codingPath)
        + (kinds.first { context.debugDescription.contains(" but found \($0) instead") }.map {
          "Expected to decode \(type) but found \($0) instead."
        } ?? "the value is invalid")
    case DecodingError.valueNotFound(_, let context):
      shownPath(context.codingPath)
        + (context.debugDescription.hasSuffix("is at end.")
          ? "the array has no element at this index" : "found null instead of a value")
    case DecodingError.dataCorrupted(let context):
      shownPath(context.codingPath)
        + (unreadable.contains(context.debugDescription) ? context.debugDescription : "the value is invalid")
    default: "the value is invalid"  // an error from the app or another decoder
    }
  }

  /// The type names that decoders use in error descriptions.
  private static let kinds = ["a string", "a number", "bool", "null", "an array", "a dictionary"]
  /// The descriptions that decoders use for data in the wrong format.
  private static let unreadable: Set = [
    "The given data was not valid JSON.", "The given data was not a valid property list.",
  ]

  private static func shownPath(_ keys: [any CodingKey]) -> String {
    keys.isEmpty ? "" : "at \(keys.map(shownKey).joined(separator: ".")): "
  }

  private static func shownKey(_ key: any CodingKey) -> String {
    key.place.map(String.init) ?? (key.isDeclared ? key.stringValue : "*")
  }

  /// Returns the body as text in the declared charset. If no charset is declared, the body is decoded as UTF-8, with
  /// invalid bytes replaced.
  private static func declaredText(_ data: Data, _ mediaType: MediaType?) throws(Charset.Problem) -> String {
    guard let charset = mediaType?.parameter("charset"), !charset.isEmpty else {
      return String(decoding: data, as: UTF8.self)
    }
    return try Charset.text(of: data, in: charset)
  }

  /// Returns the body as text in the declared charset. If that fails, the body is decoded as UTF-8, with invalid bytes
  /// replaced.
  static func text(_ data: Data, _ mediaType: MediaType?) -> String {
    (try? declaredText(data, mediaType)) ?? String(decoding: data, as: UTF8.self)
  }

  /// Converts text from the declared charset to UTF-8 and drops an incomplete character at the end. Returns the data
  /// unchanged if that is not possible.
  static func inUTF8(_ data: Data, _ mediaType: MediaType?) -> Data {
    guard let charset = mediaType?.parameter("charset"), !charset.isEmpty else { return data }
    // RFC 8259 §8.1: JSON is UTF-8, regardless of the declared charset. JSON in UTF-16 or UTF-32 contains zero bytes.
    let isPlainJSON =
      mediaType?.essence.hasSuffix("json") == true && !data.contains(0) && String(data: data, encoding: .utf8) != nil
    if isPlainJSON { return data }
    let text = (0..<4).lazy.compactMap { try? Charset.text(of: Data(data.dropLast($0)), in: charset) }.first
    return text.map { Data($0.utf8) } ?? data
  }

  private static func payload(_ data: Data, _ mediaType: MediaType?) throws -> String {
    do {
      return try declaredText(data, mediaType)
    } catch {
      throw TaskError(
        .decodingFailed,
        "can't decode String from \(data.count) bytes of \(mediaType?.essence ?? "an unknown type"): \(error.words)",
        phase: .finishing, underlying: error)
    }
  }

  package static func explain(_ error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, let context): "\(path(context.codingPath))no key '\(key.stringValue)'"
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
      DecodingError.dataCorrupted(let context):
      "\(path(context.codingPath))\(inJSON(context.debugDescription))"
    case EncodingError.invalidValue(_, let context): "\(path(context.codingPath))\(context.debugDescription)"
    default: "\(error)"
    }
  }

  /// Replaces the Swift types in a decoder's description by the names of JSON's types.
  private static func inJSON(_ words: String) -> String {
    guard words.hasPrefix("Expected to decode ") else { return words }
    return words.replacing("Dictionary<String, Any>", with: "an object").replacing("Array<Any>", with: "an array")
      .replacing("found a dictionary", with: "found an object")
  }

  /// Returns the location of an error inside a secret value, which the decoder's description may quote. Returns `nil`
  /// for any other error.
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

/// Decodes an empty body, from which only optionals can be decoded.
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

/// Encodes a value as a request body.
public protocol BodyEncoder: Sendable {
  /// The media type of the bytes, sent as `Content-Type`.
  var mediaType: MediaType { get }

  /// Returns the encoded bytes. If it throws, the request is not sent.
  func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension JSONEncoder: BodyEncoder {
  /// `application/json`.
  public var mediaType: MediaType { .json }
}

/// Decodes a value from a response body.
public protocol PayloadDecoder: Sendable {
  /// Returns the decoded value. Throws if `data` does not describe one.
  func decode<Payload: Decodable>(_ type: Payload.Type, from data: Data) throws -> Payload
}

extension JSONDecoder: PayloadDecoder {}

extension PropertyListEncoder: BodyEncoder {
  /// `application/x-plist`.
  public var mediaType: MediaType { .propertyList }
}

extension PropertyListDecoder: PayloadDecoder {}

extension TaskError {
  /// The body as text, in the declared charset or UTF-8, or `nil` if it is not text.
  public var bodyText: String? {
    String(data: PayloadCoding.inUTF8(body, headers.mediaType), encoding: .utf8)
  }
}
