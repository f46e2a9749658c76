import ErrandFoundation

// Properties that accept several types. Each has an associated type, which the compiler infers from the task's
// declaration, and a `planned…` requirement that converts the property. The overload is chosen at compile time, without
// a dynamic lookup. A type that doesn't match any overload selects an `unavailable` overload, whose message explains
// the error.

// MARK: Path

extension ServerTask where TaskPath == String {
  /// Empty by default.
  public var path: String { "" }
  /// The path as declared.
  public var plannedPath: String { path }
}

extension ServerTask where TaskPath == [String] {
  /// The percent-encoded segments, joined by slashes. Throws ``TaskError`` if a segment is empty, `.` or `..`.
  public var plannedPath: String { get throws(TaskError) { try PathSegments.path(of: path) } }
}

extension ServerTask {
  /// Unavailable: `path` has an unsupported type.
  @available(*, unavailable, message: "a path must be a String or an array of segments ([String])")
  public var plannedPath: String { "" }
}

// MARK: Query

extension ServerTask where TaskQuery == HTTPQuery {
  /// Empty by default.
  public var query: HTTPQuery { HTTPQuery() }
  /// The query as declared.
  public var plannedQuery: HTTPQuery { query }
}

extension ServerTask where TaskQuery == HTTPQuery? {
  /// The query, or an empty query if `nil`.
  public var plannedQuery: HTTPQuery { query ?? HTTPQuery() }
}

extension ServerTask where TaskQuery: Encodable {
  /// The value's items, as encoded by ``HTTPQuery/init(encoding:_:)``. Uses the style of the task's ``FormEncoder``, if
  /// it has one.
  public var plannedQuery: HTTPQuery {
    get throws(TaskError) {
      let style = (plannedEncoder as? FormEncoder)?.style ?? FormStyle()
      return try TaskError.encoding("the query", of: Self.self) { try HTTPQuery(encoding: query, style) }
    }
  }
}

extension ServerTask {
  /// Unavailable: `query` has an unsupported type.
  @available(
    *, unavailable, message: "a query must be an HTTPQuery, a dictionary, String pairs, or an Encodable value with keys"
  )
  public var plannedQuery: HTTPQuery { HTTPQuery() }
}

// MARK: Headers

extension ServerTask where TaskHeaders == HTTPHeaders {
  /// Empty by default.
  public var headers: HTTPHeaders { HTTPHeaders() }
  /// The fields as declared.
  public var plannedHeaders: HTTPHeaders { headers }
}

extension ServerTask where TaskHeaders == HTTPHeaders? {
  /// The fields. Empty if `nil`.
  public var plannedHeaders: HTTPHeaders { headers ?? HTTPHeaders() }
}

extension ServerTask where TaskHeaders: Encodable {
  /// The value's fields, as encoded by ``HTTPHeaders/init(encoding:)``.
  public var plannedHeaders: HTTPHeaders {
    get throws(TaskError) {
      try TaskError.encoding("the headers", of: Self.self) { try HTTPHeaders(encoding: headers) }
    }
  }
}

extension ServerTask {
  /// Unavailable: `headers` has an unsupported type.
  @available(
    *, unavailable, message: "headers must be HTTPHeaders, a dictionary, String pairs, or an Encodable value with keys"
  )
  public var plannedHeaders: HTTPHeaders { HTTPHeaders() }
}

// MARK: Timeout

extension ServerTask where TaskTimeout == Duration {
  /// Defaults to `.inherited`.
  public var timeout: Duration { .inherited }
  /// The time limit as declared.
  public var plannedTimeout: Duration { timeout }
}

extension ServerTask where TaskTimeout == Duration? {
  /// The time limit, or `.inherited` if `nil`.
  public var plannedTimeout: Duration { timeout ?? .inherited }
}

extension ServerTask {
  /// Unavailable: the timeout has an unsupported type.
  @available(*, unavailable, message: "a timeout must be a Duration, such as .seconds(5)")
  public var plannedTimeout: Duration { .inherited }

  /// Unavailable: the timeout has an unsupported type.
  @available(*, unavailable, message: "a timeout must be a Duration, such as .seconds(5)")
  public func timeout(_ seconds: Double) -> Modified<Unmodified> { modified { _ in } }

  /// Unavailable: the number could mean attempts or retries.
  @available(*, unavailable, message: "retry takes a policy: use .attempts(3) for three attempts in total")
  public func retry(_ count: Int) -> Modified<Unmodified> { modified { _ in } }
}

// MARK: Encoder and decoder

extension ServerTask where TaskEncoder == any BodyEncoder {
  /// Defaults to the server's encoder.
  public var encoder: any BodyEncoder { InheritedCoding() }
  /// The encoder as declared.
  public var plannedEncoder: any BodyEncoder { encoder }
}

extension ServerTask where TaskEncoder == (any BodyEncoder)? {
  /// The encoder, or the server's encoder if `nil`.
  public var plannedEncoder: any BodyEncoder { encoder ?? InheritedCoding() }
}

extension ServerTask where TaskEncoder: BodyEncoder {
  /// The encoder as declared.
  public var plannedEncoder: any BodyEncoder { encoder }
}

extension ServerTask {
  /// Unavailable: `encoder` has an unsupported type.
  @available(*, unavailable, message: "an encoder must be a BodyEncoder, such as JSONEncoder or FormEncoder")
  public var plannedEncoder: any BodyEncoder { InheritedCoding() }
}

extension ServerTask where TaskDecoder == any PayloadDecoder {
  /// Defaults to the server's decoder.
  public var decoder: any PayloadDecoder { InheritedCoding() }
  /// The decoder as declared.
  public var plannedDecoder: any PayloadDecoder { decoder }
}

extension ServerTask where TaskDecoder == (any PayloadDecoder)? {
  /// The decoder, or the server's decoder if `nil`.
  public var plannedDecoder: any PayloadDecoder { decoder ?? InheritedCoding() }
}

extension ServerTask where TaskDecoder: PayloadDecoder {
  /// The decoder as declared.
  public var plannedDecoder: any PayloadDecoder { decoder }
}

extension ServerTask {
  /// Unavailable: `decoder` has an unsupported type.
  @available(*, unavailable, message: "a decoder must be a PayloadDecoder, such as JSONDecoder")
  public var plannedDecoder: any PayloadDecoder { InheritedCoding() }
}

// MARK: Payload path

extension ServerTask where TaskPayloadPath == PayloadPath {
  /// Defaults to `.inherited`.
  public var payloadPath: PayloadPath { .inherited }
  /// The payload path as declared.
  public var plannedPayloadPath: PayloadPath { payloadPath }
}

extension ServerTask where TaskPayloadPath == String {
  /// The payload path with one key.
  public var plannedPayloadPath: PayloadPath { PayloadPath([payloadPath]) }
}

extension ServerTask where TaskPayloadPath == String? {
  /// The payload path with one key, or `.inherited` if `nil`.
  public var plannedPayloadPath: PayloadPath { payloadPath.map { PayloadPath([$0]) } ?? .inherited }
}

extension ServerTask where TaskPayloadPath == [String]? {
  /// The payload path with these keys, or `.inherited` if `nil`.
  public var plannedPayloadPath: PayloadPath { payloadPath.map { PayloadPath($0) } ?? .inherited }
}

extension ServerTask where TaskPayloadPath == [String] {
  /// The payload path with these keys.
  public var plannedPayloadPath: PayloadPath { PayloadPath(payloadPath) }
}

extension ServerTask {
  /// Unavailable: `payloadPath` has an unsupported type.
  @available(*, unavailable, message: "a payload path must be a String (one key), a [String] or a PayloadPath")
  public var plannedPayloadPath: PayloadPath { .inherited }
}

// MARK: Parameters

extension ServerTask where TaskParameters == Never? {
  /// Defaults to `nil`.
  public var parameters: Never? { nil }
  /// Defaults to `nil`.
  public var plannedParameters: (any Encodable & Sendable)? { nil }
}

extension ServerTask where TaskParameters: Encodable {
  /// The parameters, or `nil` if the declared value is `nil`.
  public var plannedParameters: (any Encodable & Sendable)? {
    let parameters = parameters
    if let optional = parameters as? any OptionalValue, optional.isNil { return nil }
    return parameters
  }
}

extension ServerTask {
  /// Unavailable: `parameters` has an unsupported type.
  @available(*, unavailable, message: "parameters must be a dictionary or an Encodable value with keys")
  public var plannedParameters: (any Encodable & Sendable)? { nil }
}

extension TaskError {
  /// Returns the result of `encode`. Throws a ``TaskError`` that names the property and the task.
  package static func encoding<Value>(
    _ aspect: String, of task: any ServerTask.Type, _ encode: () throws -> Value
  ) throws(TaskError) -> Value {
    do {
      return try encode()
    } catch {
      throw TaskError(
        .encodingFailed, "can't encode \(aspect) of \(task): \(PayloadCoding.explain(error))", phase: .preparing,
        underlying: error, wasNotSent: true)
    }
  }
}

// MARK: Compression

extension ServerTask where TaskGZipThreshold == Int? {
  /// Defaults to the server's threshold.
  public var gzipUploadThreshold: Int? { nil }
  /// The threshold, or `nil` if it is inherited from the server.
  public var plannedGZipThreshold: Int? { gzipUploadThreshold }
}

extension ServerTask where TaskGZipThreshold == Int {
  /// The threshold as declared.
  public var plannedGZipThreshold: Int? { gzipUploadThreshold }
}

extension ServerTask {
  /// Unavailable: `gzipUploadThreshold` has an unsupported type.
  @available(*, unavailable, message: "gzipUploadThreshold must be an Int (a number of bytes)")
  public var plannedGZipThreshold: Int? { nil }
}

extension PathSegments {
  /// Returns the path for the segments. Throws ``TaskError`` for `.`, `..` and empty segments. An empty segment would
  /// turn the path of an item into the path of its collection.
  static func path(of segments: [String]) throws(TaskError) -> String {
    for (index, segment) in segments.enumerated() {
      if segment.isEmpty {
        throw refusal(index, "is empty, which is not allowed: to add a trailing slash, declare the path as a String")
      }
      if segment == "." || segment == ".." {
        throw refusal(index, "is '\(segment)', which would point to a different path")
      }
    }
    return segments.map(HTTPQuery.escaped).joined(separator: "/")
  }

  private static func refusal(_ index: Int, _ words: String) -> TaskError {
    TaskError(.badURL, "segment \(index + 1) of the path \(words)", phase: .preparing, wasNotSent: true)
  }
}
