import ErrandFoundation

/// An error response from a token endpoint (RFC 6749 §5.2).
///
/// The APIs of Facebook and Google return an object: `{"error":{"type":"OAuthException","message":"…","code":100}}`.
struct StatedRefusal: Decodable {
  private enum CodingKeys: CodingKey { case error, error_description, message }

  let code: String
  let detail: String?

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    let error = try members.decode(JSONValue.self, forKey: .error)
    let code = Self.word(error) ?? ["type", "status", "code", "message"].lazy.compactMap { Self.word(error[$0]) }.first
    guard let code else {
      throw DecodingError.dataCorruptedError(forKey: .error, in: members, debugDescription: "no error code")
    }
    self.code = code
    let texts = [.error_description, .message].lazy.compactMap { try? members.decode(String.self, forKey: $0) }
    detail = texts.first ?? error["message"]?.string
  }

  private static func word(_ value: JSONValue?) -> String? { value?.string ?? value?.int.map(String.init) }
}

/// A token response (RFC 6749 §5.1).
///
/// Some servers send the lifetime as a string or the scopes as a list, or omit the type. Only a missing token is an
/// error, because the server may already have replaced the refresh token.
struct StatedToken: Decodable {
  let access_token: String
  let token_type: Lenient<String>?
  let expires_in: Lenient<LenientNumber>?
  let refresh_token: Lenient<String>?
  let scope: Lenient<String>?

  /// Returns the token, received at `now`. Ignores a lifetime of 0, which some servers send for tokens that don't
  /// expire. Such a token is replaced after a 401.
  func token(_ now: Date) throws(OtherType) -> AccessToken {
    let type = token_type?.value ?? "Bearer"
    guard type.lowercased() == "bearer" else { throw OtherType(type: type) }
    let lifetime = expires_in?.value?.value ?? 0
    return AccessToken(
      access_token, issued: now, expiry: lifetime > 0 ? now.addingTimeInterval(lifetime) : nil,
      refreshToken: refresh_token?.value, scope: scope?.value)
  }
}

struct OtherType: Error {
  let type: String
}

/// A value, or `nil` if the response has a value of another type.
struct Lenient<Value: Decodable & Sendable>: Decodable, Sendable {
  let value: Value?

  init(from decoder: any Decoder) throws { value = try? Value(from: decoder) }
}

/// A number of seconds, clamped to 0...1e9. Can be encoded as a string.
struct LenientNumber: Decodable, Sendable {
  let value: Double

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Double.self) {  // otherwise it is a string
      value = min(max(0, number), 1e9)
    } else if let number = Double(try container.decode(String.self)), number.isFinite {
      value = min(max(0, number), 1e9)
    } else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no number")
    }
  }
}

/// The response to a device code request (RFC 8628 §3.2).
struct DeviceCode: Decodable, Sendable {
  private enum CodingKeys: CodingKey {
    case device_code, user_code, verification_uri, verification_url, verification_uri_complete, expires_in, interval
  }

  let code: String
  let prompt: OAuth2.DevicePrompt
  let interval: Double?

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    code = try members.decode(String.self, forKey: .device_code)
    interval = try members.decodeIfPresent(LenientNumber.self, forKey: .interval)?.value
    // Google calls it `verification_url`.
    let page =
      try members.decodeIfPresent(URL.self, forKey: .verification_url)
      ?? members.decode(URL.self, forKey: .verification_uri)
    prompt = OAuth2.DevicePrompt(
      userCode: try members.decode(String.self, forKey: .user_code), verificationURL: page,
      completeURL: try members.decodeIfPresent(URL.self, forKey: .verification_uri_complete),
      lifetime: .seconds(try members.decode(LenientNumber.self, forKey: .expires_in).value))
  }
}
