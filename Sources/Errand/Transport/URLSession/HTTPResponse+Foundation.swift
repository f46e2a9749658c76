#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    public import Errand
    public import Foundation
    public import FoundationNetworking
  #else
    public import Foundation
  #endif

  extension HTTPURLResponse {
    /// Creates an `HTTPURLResponse` from the head of a response, or returns `nil` if Foundation rejects it.
    ///
    /// Repeated header fields are joined with commas, as Foundation does for received responses.
    public convenience init?(_ response: HTTPResponse, url: URL) {
      var fields: [String: String] = [:]
      for field in response.headers where fields.keys.allSatisfy({ HTTPHeaderName($0) != field.name }) {
        fields[field.name.rawName] = response.headers.values(for: field.name).joined(separator: ", ")
      }
      self.init(
        url: url, statusCode: response.status.code, httpVersion: response.version?.rawValue, headerFields: fields)
    }
  }

  extension HTTPResponse {
    /// Creates a response from an `HTTPURLResponse` and a body, or returns `nil` if it has no URL.
    ///
    /// The header fields are sorted by name, because Foundation does not keep their order. `Set-Cookie` fields, which
    /// Foundation joins, are split again. The HTTP version is unknown, because Foundation does not provide it.
    public init?(_ response: HTTPURLResponse, body: HTTPResponseBody = HTTPResponseBody()) {
      guard let url = response.url else { return nil }
      self.init(HTTPStatus(response.statusCode), url: url, headers: HTTPHeaders(response), body: body)
    }
  }

  extension HTTPHeaders {
    init(_ response: HTTPURLResponse) {
      var fields: [String: String] = [:]
      for (name, value) in response.allHeaderFields {
        if let name = name as? String, let value = value as? String { fields[name] = value }
      }
      self.init(unordered: fields)
    }

    /// Sorts the fields by name, to make the order deterministic.
    init(unordered fields: [String: String]) {
      self.init()
      for (name, value) in fields.sorted(by: { $0.key.lowercased() < $1.key.lowercased() }) {
        let name = HTTPHeaderName(name)
        for line in name == .setCookie ? Self.cookieLines(value) : [value] { add(line, for: name) }
      }
    }

    /// Splits `Set-Cookie` fields that were joined with commas. Dates contain commas too.
    ///
    /// A comma is a separator if a name and an equals sign follow it. After the comma in `Wed, 21 Oct 2026`, there is
    /// no equals sign before the next semicolon or comma.
    static func cookieLines(_ joined: String) -> [String] {
      var lines: [String] = []
      for piece in joined.split(separator: ",", omittingEmptySubsequences: false) {
        let start = piece.trimmingSpaces().prefix { $0 != "=" && $0 != ";" }
        let isFollowed = start.endIndex < piece.endIndex && piece[start.endIndex] == "="
        let beginsCookie = isFollowed && HTTPHeaderName(String(start)).isValid
        if beginsCookie || lines.isEmpty {
          lines.append(String(piece.trimmingSpaces()))
        } else {
          lines[lines.count - 1] += ",\(piece)"
        }
      }
      return lines
    }
  }
#endif
