import ErrandTesting
import Foundation

@testable import Errand

/// An authorization server with numbered tokens. It rotates refresh tokens, so each one works once.
final class TokenService: Sendable {
  static let url = URL.known("https://auth.test/token")

  private struct State {
    var issued = 0
    var valid: Set<String> = []
    var refreshTokens: Set<String> = []
    var requests: [[String: String]] = []
    var headers: [HTTPHeaders] = []
    /// The number of refreshes with a used refresh token.
    var reused = 0
    var failure: (HTTPStatus, String)?
    var extra = ""
  }

  private let state = Shared(State())

  /// The submitted forms in order.
  var requests: [[String: String]] { state.withLock { $0.requests } }
  var headers: [HTTPHeaders] { state.withLock { $0.headers } }
  var reused: Int { state.withLock { $0.reused } }
  var grants: [String] { requests.map { $0["grant_type"] ?? "-" } }

  /// Members added to token responses. The text starts with a comma.
  func adding(_ members: String) { state.withLock { $0.extra = members } }

  /// Fails requests with this status and body, or stops failing if it is `nil`.
  func fail(_ status: HTTPStatus?, _ body: String = "") { state.withLock { $0.failure = status.map { ($0, body) } } }

  /// Revokes all access tokens.
  func revoke() { state.withLock { $0.valid = [] } }

  /// Revokes all refresh tokens.
  func revokeRefreshTokens() { state.withLock { $0.refreshTokens = [] } }

  /// Accepts a refresh token that the app obtained elsewhere.
  func give(_ refreshToken: String) { state.withLock { _ = $0.refreshTokens.insert(refreshToken) } }

  /// Answers as the authorization server or, for other URLs, as a shop that accepts its tokens.
  func answer(_ request: HTTPRequest) -> HTTPResponse {
    guard request.url == Self.url else {
      let token = request.headers[.authorization].map { String($0.dropFirst("Bearer ".count)) } ?? ""
      return state.withLock { $0.valid.contains(token) } ? .ok(request) : .status(.unauthorized, for: request)
    }
    let (status, body) = answer(Self.form(request.body.data ?? Data()), request.headers)
    return .json(body, status: status, for: request)
  }

  private func answer(_ form: [String: String], _ headers: HTTPHeaders) -> (HTTPStatus, String) {
    state.withLock { state in
      state.requests.append(form)
      state.headers.append(headers)
      if let failure = state.failure { return failure }
      if form["grant_type"] == "refresh_token" {
        guard state.refreshTokens.remove(form["refresh_token"] ?? "") != nil else {
          state.reused += 1
          return (400, #"{"error":"invalid_grant","error_description":"it was used, or is none"}"#)
        }
      }
      state.issued += 1
      state.valid.insert("t\(state.issued)")
      var refresh = ""
      if form["grant_type"] != "client_credentials" {
        state.refreshTokens.insert("r\(state.issued)")
        refresh = #","refresh_token":"r\#(state.issued)""#
      }
      return (
        .ok, #"{"access_token":"t\#(state.issued)","token_type":"Bearer","expires_in":3600\#(refresh)\#(state.extra)}"#
      )
    }
  }

  static func form(_ body: Data) -> [String: String] {
    let pairs = String(decoding: body, as: UTF8.self).split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map { $0.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? "" }
      return (parts[0], parts.count == 2 ? parts[1] : "")
    }
    return Dictionary(pairs) { first, _ in first + " twice" }
  }
}
