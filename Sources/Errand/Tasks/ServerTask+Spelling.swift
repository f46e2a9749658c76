import ErrandFoundation

// The aspects that have several spellings. Each has a type of its own, which the compiler finds from what a task declares, and
// one requirement that makes of it what is sent. The compiler chooses among these implementations when it compiles the
// task: nothing is looked up while it runs, and a type that fits none of them is an error with words for it.

// MARK: Path

extension ServerTask where TaskPath == String {
  /// Empty.
  public var path: String { "" }
  /// The path.
  public var plannedPath: String { path }
}

extension ServerTask where TaskPath == [String] {
  /// The segments, escaped, with slashes between them.
  public var plannedPath: String { get throws(TaskError) { try PathSegments.path(of: path) } }
}

extension ServerTask {
  /// Not a spelling of a path.
  @available(*, unavailable, message: "a path is a String, or segments as [String]")
  public var plannedPath: String { "" }
}

// MARK: Query

extension ServerTask where TaskQuery == HTTPQuery {
  /// Empty.
  public var query: HTTPQuery { HTTPQuery() }
  /// The query.
  public var plannedQuery: HTTPQuery { query }
}

extension ServerTask where TaskQuery == HTTPQuery? {
  /// The query, empty where it is nil.
  public var plannedQuery: HTTPQuery { query ?? HTTPQuery() }
}

extension ServerTask where TaskQuery: Encodable {
  /// The items of the value, as ``HTTPQuery/init(encoding:_:)`` makes them, in the style of the task's ``FormEncoder`` where it has one.
  public var plannedQuery: HTTPQuery {
    get throws(TaskError) {
      let style = (plannedEncoder as? FormEncoder)?.style ?? FormStyle()
      return try TaskError.encoding("the query", of: Self.self) { try HTTPQuery(encoding: query, style) }
    }
  }
}

extension ServerTask {
  /// Not a spelling of a query.
  @available(*, unavailable, message: "a query is an HTTPQuery, a dictionary, pairs of String, or Encodable with keys")
  public var plannedQuery: HTTPQuery { HTTPQuery() }
}

// MARK: Headers

extension ServerTask where TaskHeaders == HTTPHeaders {
  /// Empty.
  public var headers: HTTPHeaders { HTTPHeaders() }
  /// The fields.
  public var plannedHeaders: HTTPHeaders { headers }
}

extension ServerTask where TaskHeaders == HTTPHeaders? {
  /// The fields, none where they are nil.
  public var plannedHeaders: HTTPHeaders { headers ?? HTTPHeaders() }
}

extension ServerTask where TaskHeaders: Encodable {
  /// The fields of the value, as ``HTTPHeaders/init(encoding:)`` makes them.
  public var plannedHeaders: HTTPHeaders {
    get throws(TaskError) {
      try TaskError.encoding("the headers", of: Self.self) { try HTTPHeaders(encoding: headers) }
    }
  }
}

extension ServerTask {
  /// Not a spelling of header fields.
  @available(*, unavailable, message: "headers are HTTPHeaders, a dictionary, pairs of String, or Encodable with keys")
  public var plannedHeaders: HTTPHeaders { HTTPHeaders() }
}

// MARK: Timeout

extension ServerTask where TaskTimeout == Duration {
  /// `.inherited`.
  public var timeout: Duration { .inherited }
  /// The time limit.
  public var plannedTimeout: Duration { timeout }
}

extension ServerTask where TaskTimeout == Duration? {
  /// The time limit, the server's where it is nil.
  public var plannedTimeout: Duration { timeout ?? .inherited }
}

extension ServerTask {
  /// Not a spelling of a time limit.
  @available(*, unavailable, message: "a timeout is a Duration, such as .seconds(5)")
  public var plannedTimeout: Duration { .inherited }

  /// Not a spelling of a time limit.
  @available(*, unavailable, message: "a timeout is a Duration, such as .seconds(5)")
  public func timeout(_ seconds: Double) -> Modified<Unmodified> { modified { _ in } }

  /// Not a spelling of a retry policy.
  @available(*, unavailable, message: "a retry policy says what it counts: .attempts(3) makes three in all")
  public func retry(_ count: Int) -> Modified<Unmodified> { modified { _ in } }
}

// MARK: Encoder and decoder

extension ServerTask where TaskEncoder == any BodyEncoder {
  /// The server's.
  public var encoder: any BodyEncoder { InheritedCoding() }
  /// The encoder.
  public var plannedEncoder: any BodyEncoder { encoder }
}

extension ServerTask where TaskEncoder == (any BodyEncoder)? {
  /// The encoder, the server's where it is nil.
  public var plannedEncoder: any BodyEncoder { encoder ?? InheritedCoding() }
}

extension ServerTask where TaskEncoder: BodyEncoder {
  /// The encoder.
  public var plannedEncoder: any BodyEncoder { encoder }
}

extension ServerTask {
  /// Not an encoder.
  @available(*, unavailable, message: "an encoder is a BodyEncoder, such as JSONEncoder or FormEncoder")
  public var plannedEncoder: any BodyEncoder { InheritedCoding() }
}

extension ServerTask where TaskDecoder == any PayloadDecoder {
  /// The server's.
  public var decoder: any PayloadDecoder { InheritedCoding() }
  /// The decoder.
  public var plannedDecoder: any PayloadDecoder { decoder }
}

extension ServerTask where TaskDecoder == (any PayloadDecoder)? {
  /// The decoder, the server's where it is nil.
  public var plannedDecoder: any PayloadDecoder { decoder ?? InheritedCoding() }
}

extension ServerTask where TaskDecoder: PayloadDecoder {
  /// The decoder.
  public var plannedDecoder: any PayloadDecoder { decoder }
}

extension ServerTask {
  /// Not a decoder.
  @available(*, unavailable, message: "a decoder is a PayloadDecoder, such as JSONDecoder")
  public var plannedDecoder: any PayloadDecoder { InheritedCoding() }
}

// MARK: Payload path

extension ServerTask where TaskPayloadPath == PayloadPath {
  /// `.inherited`.
  public var payloadPath: PayloadPath { .inherited }
  /// The place.
  public var plannedPayloadPath: PayloadPath { payloadPath }
}

extension ServerTask where TaskPayloadPath == String {
  /// The place that one key leads to.
  public var plannedPayloadPath: PayloadPath { PayloadPath([payloadPath]) }
}

extension ServerTask where TaskPayloadPath == String? {
  /// The place that one key leads to, the server's where it is nil.
  public var plannedPayloadPath: PayloadPath { payloadPath.map { PayloadPath([$0]) } ?? .inherited }
}

extension ServerTask where TaskPayloadPath == [String]? {
  /// The place that the keys lead to, the server's where they are nil.
  public var plannedPayloadPath: PayloadPath { payloadPath.map { PayloadPath($0) } ?? .inherited }
}

extension ServerTask where TaskPayloadPath == [String] {
  /// The place that the keys lead to.
  public var plannedPayloadPath: PayloadPath { PayloadPath(payloadPath) }
}

extension ServerTask {
  /// Not the place of a payload.
  @available(*, unavailable, message: "a payload path is a key as String, keys as [String], or a PayloadPath")
  public var plannedPayloadPath: PayloadPath { .inherited }
}

// MARK: Parameters

extension ServerTask where TaskParameters == Never? {
  /// None.
  public var parameters: Never? { nil }
  /// None.
  public var plannedParameters: (any Encodable & Sendable)? { nil }
}

extension ServerTask where TaskParameters: Encodable {
  /// The parameters; none where they are an optional that is nil.
  public var plannedParameters: (any Encodable & Sendable)? {
    let parameters = parameters
    if let optional = parameters as? any OptionalValue, optional.isNil { return nil }
    return parameters
  }
}

extension ServerTask {
  /// Not a spelling of parameters.
  @available(*, unavailable, message: "parameters are a dictionary, or Encodable with keys")
  public var plannedParameters: (any Encodable & Sendable)? { nil }
}

extension TaskError {
  /// What `encode` makes. Its error says which aspect of which task it was; nothing was sent.
  static func encoding<Value>(
    _ aspect: String, of task: any ServerTask.Type, _ encode: () throws -> Value
  ) throws(TaskError) -> Value {
    do {
      return try encode()
    } catch {
      throw TaskError(
        .encodingFailed, "can't encode \(aspect) of \(task): \(PayloadCoding.explain(error))", phase: .preparing,
        underlying: error, isSurelyNotSent: true)
    }
  }
}

// MARK: Packing

extension ServerTask where TaskGZipThreshold == Int? {
  /// The server's.
  public var gzipUploadThreshold: Int? { nil }
  /// The number, nil where the server's counts.
  public var plannedGZipThreshold: Int? { gzipUploadThreshold }
}

extension ServerTask where TaskGZipThreshold == Int {
  /// The number.
  public var plannedGZipThreshold: Int? { gzipUploadThreshold }
}

extension ServerTask {
  /// Not a spelling of a threshold.
  @available(*, unavailable, message: "a gzipUploadThreshold is a number of bytes as Int")
  public var plannedGZipThreshold: Int? { nil }
}

extension PathSegments {
  /// The path of these segments.
  /// Throws ``TaskError`` for a segment that would not be one: `.`, `..`, and an empty one, which would make the path of one thing that
  /// of all.
  static func path(of segments: [String]) throws(TaskError) -> String {
    for (index, segment) in segments.enumerated() {
      if segment.isEmpty {
        throw refusal(index, "is empty, and would be skipped: for a slash at the end, write the path as text")
      }
      if segment == "." || segment == ".." { throw refusal(index, "is '\(segment)', and would name another folder") }
    }
    return segments.map(HTTPQuery.escaped).joined(separator: "/")
  }

  private static func refusal(_ index: Int, _ words: String) -> TaskError {
    TaskError(.badURL, "segment \(index + 1) of the path \(words)", phase: .preparing, isSurelyNotSent: true)
  }
}
