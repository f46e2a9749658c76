/// A token as it is stored: with what its sign-in began with. To whoever reads an ``AccessToken`` there it is one.
struct StoredToken: Codable, Sendable {
  private enum CodingKeys: CodingKey { case origin }

  let token: AccessToken
  /// The hash of the code, or the refresh token, that the app has given; empty where it gave none, nil where it has stored the token
  /// itself.
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
  /// The mark of the sign-in that the app has made; nil where the grant makes one.
  var origin: String? {
    switch kind {
    case .code(let code, _, _): "code \(SHA256.hexadecimal(of: code))"
    case .refreshToken(let token): "token \(SHA256.hexadecimal(of: token))"
    case .clientCredentials, .password, .device: nil
    }
  }
}
