public import ErrandFoundation

// Queries and header fields as (optional) pairs. Tuples can't conform to protocols, so each type needs its own
// overload.

// MARK: Query

extension ServerTask where TaskQuery == [(String, String)] {
  /// The pairs in order.
  public var plannedQuery: HTTPQuery { HTTPQuery(query.map { ($0.0, $0.1) }) }
}

extension ServerTask where TaskQuery == [(String, String)]? {
  /// The pairs in order. Empty if `query` is `nil`.
  public var plannedQuery: HTTPQuery { HTTPQuery((query ?? []).map { ($0.0, $0.1) }) }
}

extension ServerTask where TaskQuery == [(String, String?)] {
  /// The pairs in order, omitting pairs whose value is `nil`.
  public var plannedQuery: HTTPQuery { HTTPQuery(query) }
}

extension ServerTask where TaskQuery == [(String, String?)]? {
  /// The pairs in order, omitting pairs whose value is `nil`. Empty if `query` is `nil`.
  public var plannedQuery: HTTPQuery { HTTPQuery(query ?? []) }
}

extension ServerTask where TaskQuery == KeyValuePairs<String, String> {
  /// The pairs in order.
  public var plannedQuery: HTTPQuery { HTTPQuery(query.map { ($0.key, $0.value) }) }
}

extension ServerTask where TaskQuery == KeyValuePairs<String, String>? {
  /// The pairs in order. Empty if `query` is `nil`.
  public var plannedQuery: HTTPQuery { HTTPQuery((query ?? [:]).map { ($0.key, $0.value) }) }
}

extension ServerTask where TaskQuery == KeyValuePairs<String, String?> {
  /// The pairs in order, omitting pairs whose value is `nil`.
  public var plannedQuery: HTTPQuery { HTTPQuery(query.map { ($0.key, $0.value) }) }
}

extension ServerTask where TaskQuery == KeyValuePairs<String, String?>? {
  /// The pairs in order, omitting pairs whose value is `nil`. Empty if `query` is `nil`.
  public var plannedQuery: HTTPQuery { HTTPQuery((query ?? [:]).map { ($0.key, $0.value) }) }
}

extension ServerTask where TaskQuery == [URLQueryItem] {
  /// The items in order.
  public var plannedQuery: HTTPQuery { HTTPQuery(query.map { HTTPQuery.Item($0.name, $0.value) }) }
}

extension ServerTask where TaskQuery == [URLQueryItem]? {
  /// The items in order. Empty if `query` is `nil`.
  public var plannedQuery: HTTPQuery { HTTPQuery((query ?? []).map { HTTPQuery.Item($0.name, $0.value) }) }
}

// MARK: Headers

extension ServerTask where TaskHeaders == [HTTPHeaderName: String] {
  /// The fields, sorted by name.
  public var plannedHeaders: HTTPHeaders {
    HTTPHeaders(headers.map { .init($0.key, $0.value) }.sorted { $0.name.rawName < $1.name.rawName })
  }
}

extension ServerTask where TaskHeaders == [HTTPHeaderName: String]? {
  /// The fields, sorted by name. Empty if `headers` is `nil`.
  public var plannedHeaders: HTTPHeaders {
    HTTPHeaders((headers ?? [:]).map { .init($0.key, $0.value) }.sorted { $0.name.rawName < $1.name.rawName })
  }
}

extension ServerTask where TaskHeaders == [(String, String)] {
  /// The pairs in order.
  public var plannedHeaders: HTTPHeaders { HTTPHeaders(headers.map { .init(HTTPHeaderName($0.0), $0.1) }) }
}

extension ServerTask where TaskHeaders == [(String, String)]? {
  /// The pairs in order. Empty if `headers` is `nil`.
  public var plannedHeaders: HTTPHeaders { HTTPHeaders((headers ?? []).map { .init(HTTPHeaderName($0.0), $0.1) }) }
}

extension ServerTask where TaskHeaders == [(String, String?)] {
  /// The pairs in order, omitting pairs whose value is `nil`.
  public var plannedHeaders: HTTPHeaders {
    HTTPHeaders(headers.compactMap { pair in pair.1.map { .init(HTTPHeaderName(pair.0), $0) } })
  }
}

extension ServerTask where TaskHeaders == [(String, String?)]? {
  /// The pairs in order, omitting pairs whose value is `nil`. Empty if `headers` is `nil`.
  public var plannedHeaders: HTTPHeaders {
    HTTPHeaders((headers ?? []).compactMap { pair in pair.1.map { .init(HTTPHeaderName(pair.0), $0) } })
  }
}

extension ServerTask where TaskHeaders == KeyValuePairs<String, String> {
  /// The pairs in order.
  public var plannedHeaders: HTTPHeaders { HTTPHeaders(headers.map { .init(HTTPHeaderName($0.key), $0.value) }) }
}

extension ServerTask where TaskHeaders == KeyValuePairs<String, String>? {
  /// The pairs in order. Empty if `headers` is `nil`.
  public var plannedHeaders: HTTPHeaders {
    HTTPHeaders((headers ?? [:]).map { .init(HTTPHeaderName($0.key), $0.value) })
  }
}

extension ServerTask where TaskHeaders == KeyValuePairs<String, String?> {
  /// The pairs in order, omitting pairs whose value is `nil`.
  public var plannedHeaders: HTTPHeaders {
    HTTPHeaders(headers.compactMap { pair in pair.value.map { .init(HTTPHeaderName(pair.key), $0) } })
  }
}

extension ServerTask where TaskHeaders == KeyValuePairs<String, String?>? {
  /// The pairs in order, omitting pairs whose value is `nil`. Empty if `headers` is `nil`.
  public var plannedHeaders: HTTPHeaders {
    HTTPHeaders((headers ?? [:]).compactMap { pair in pair.value.map { .init(HTTPHeaderName(pair.key), $0) } })
  }
}
