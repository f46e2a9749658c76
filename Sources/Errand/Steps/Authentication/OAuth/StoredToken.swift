/// A stored token and the sign-in that produced it. Can also be decoded as an ``AccessToken``.
struct StoredToken: Codable, Sendable {
  private enum CodingKeys: CodingKey { case origin }

  let token: AccessToken
  /// The hash of the code or refresh token that the app provided. Empty if the grant needs neither, `nil` if the app
  /// stored the token itself.
  let origin: String?

  init(_ token: AccessToken, origin: String) {
    self.token = token
    self.origin = origin
  }

  init(from decoder: any Decoder) throws {
    token = try AccessToken(from: decoder)
    origin = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .origin)
  }

  func encode(to encoder: any Encoder) throws {
    try token.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(origin, forKey: .origin)
  }
}

extension OAuth2.Grant {
  /// The identity of the sign-in that the app completed before using the grant. `nil` if the grant itself is the
  /// sign-in.
  var origin: String? {
    switch kind {
    case .code(let code, _, _): "code \(SHA256.hexadecimal(of: code))"
    case .refreshToken(let token): "token \(SHA256.hexadecimal(of: token))"
    case .clientCredentials, .password, .device: nil
    }
  }
}
