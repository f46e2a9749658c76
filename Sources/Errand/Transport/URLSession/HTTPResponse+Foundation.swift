#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    public import Errand
    public import Foundation
    public import FoundationNetworking
  #else
    public import Foundation
  #endif

  extension HTTPURLResponse {
    /// The head of a response as Foundation's own value; nil where Foundation refuses it.
    ///
    /// Several lines of a header field become one, joined with commas, as Foundation itself does for what it receives.
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
    /// Foundation's response as this library's value, with a body; nil when it does not say where it came from.
    ///
    /// The header fields come in the order of their names, for Foundation keeps none. The lines of `Set-Cookie`, which
    /// Foundation joins, are taken apart again. The version is unknown: Foundation does not tell.
    public init?(_ response: HTTPURLResponse, body: HTTPResponseBody = HTTPResponseBody()) {
      guard let url = response.url else { return nil }
      self.init(HTTPStatus(response.statusCode), url: url, headers: HTTPHeaders(response), body: body)
    }
  }

  extension HTTPHeaders {
    /// The fields of Foundation's response, by name.
    init(_ response: HTTPURLResponse) {
      var fields: [String: String] = [:]
      for (name, value) in response.allHeaderFields {
        if let name = name as? String, let value = value as? String { fields[name] = value }
      }
      self.init(unordered: fields)
    }

    /// Fields that come in no order: by name, so that the same ones always look the same.
    init(unordered fields: [String: String]) {
      self.init()
      for (name, value) in fields.sorted(by: { $0.key.lowercased() < $1.key.lowercased() }) {
        let name = HTTPHeaderName(name)
        for line in name == .setCookie ? Self.cookieLines(value) : [value] { add(line, for: name) }
      }
    }

    /// Takes apart `Set-Cookie` lines that were joined with commas, which may stand in dates as well.
    ///
    /// A comma separates when a name and an equals sign follow it; after the one in `Wed, 21 Oct 2026`, none does before
    /// the next semicolon or comma.
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
