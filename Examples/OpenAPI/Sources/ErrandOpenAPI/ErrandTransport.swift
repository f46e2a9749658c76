public import Errand
import ErrandHTTPTypes
public import Foundation
public import HTTPTypes
public import OpenAPIRuntime

/// Sends a generated client's operations through a ``Server`` with its limits, policies and observers.
///
///     let client = Client(serverURL: try Servers.Server1.url(), transport: ErrandTransport(shop))
///
/// Each operation is its own call, named after its `operationId`. The server's headers and credentials are sent if the
/// client's URL has the origin of the server's remote or one of its `trustedOrigins`.
public struct ErrandTransport: ClientTransport {
  private let server: Server

  /// Creates a transport that uses `server`.
  public init(_ server: Server) { self.server = server }

  /// Sends an operation. Returns the last response's head, regardless of its status, and streams its body.
  ///
  /// A status such as 503 is retried according to the server's `retryPolicy`, and then returned to the client. A body
  /// that can be read repeatedly is resent. A one-shot body is not. The URL's path and query come before the
  /// operation's. A fragment is dropped, and characters that are invalid in URLs are escaped. A URL without a host is
  /// resolved against the server's remote (RFC 3986 §5).
  ///
  /// - Returns: The response and its body, which is `nil` for HEAD.
  /// - Throws: `TaskError` for network errors, errors from steps, and messages that one of the packages can't
  ///   represent; `CancellationError` if the surrounding task is cancelled.
  public func send(
    _ request: HTTPTypes.HTTPRequest, body: OpenAPIRuntime.HTTPBody?, baseURL: URL, operationID: String
  ) async throws -> (HTTPTypes.HTTPResponse, OpenAPIRuntime.HTTPBody?) {
    let request = try await Errand.HTTPRequest(request.below(home(of: baseURL)), body: .carrying(body))
    let task = URLTask(request.url, method: request.method, headers: request.headers, body: request.body)
    let response = try await task.named(operationID).accepting(.any).on(server).stream()
    return (try HTTPTypes.HTTPResponse(response), request.method == .head ? nil : OpenAPIRuntime.HTTPBody(response))
  }

  private func home(of url: URL) throws -> HTTPTypes.HTTPRequest {
    guard let home = URL(string: url.absoluteString, relativeTo: server.remote.url)?.absoluteURL, home.host() != nil
    else {
      throw TaskError(
        .badURL, "the client's URL '\(url.absoluteString)' has no host, and the server has no remote",
        phase: .preparing, wasNotSent: true)
    }
    return try HTTPTypes.HTTPRequest(Errand.HTTPRequest(.get, home))
  }
}

extension HTTPTypes.HTTPRequest {
  /// Returns this request with its path and query appended to a URL's.
  fileprivate func below(_ home: HTTPTypes.HTTPRequest) -> HTTPTypes.HTTPRequest {
    let (start, end) = (Self.parts(of: home.path), Self.parts(of: path))
    let query = [start.query, end.query].compactMap { $0 }.joined(separator: "&")
    let path = (start.path.last == "/" ? start.path.dropLast() : start.path) + end.path
    var request = self
    (request.scheme, request.authority) = (home.scheme, home.authority)
    request.path = (path.isEmpty ? "/" : path) + (query.isEmpty ? "" : "?\(query)")
    return request
  }

  /// The characters allowed after the host (RFC 3986 §3.3 and §3.4), including escapes.
  private static let allowed = CharacterSet.urlQueryAllowed.union(CharacterSet(charactersIn: "%"))

  private static func parts(of path: String?) -> (path: Substring, query: Substring?) {
    let sent = (path ?? "").prefix { $0 != "#" }
    let parts = (sent.addingPercentEncoding(withAllowedCharacters: allowed) ?? String(sent))
      .split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    return (parts[0], parts.dropFirst().first)
  }
}
