import ErrandFoundation

/// A refusal as a token endpoint states it (RFC 6749 §5.2).
///
/// Facebook and Google's APIs state an object: `{"error":{"type":"OAuthException","message":"…","code":100}}`.
struct StatedRefusal: Decodable {
  private enum CodingKeys: CodingKey { case error, error_description, message }

  let code: String
  let detail: String?

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    let error = try members.decode(JSONValue.self, forKey: .error)
    let code = Self.word(error) ?? ["type", "status", "code", "message"].lazy.compactMap { Self.word(error[$0]) }.first
    guard let code else {
      throw DecodingError.dataCorruptedError(forKey: .error, in: members, debugDescription: "no word for the error")
    }
    self.code = code
    let texts = [.error_description, .message].lazy.compactMap { try? members.decode(String.self, forKey: $0) }
    detail = texts.first ?? error["message"]?.string
  }

  private static func word(_ value: JSONValue?) -> String? { value?.string ?? value?.int.map(String.init) }
}

/// A token as a token endpoint states it (RFC 6749 §5.1).
///
/// Some servers write the number as a text or the scopes as a list, and leave the type out. Nothing beside the token itself fails
/// the exchange: with rotation, the refresh token is used up.
struct StatedToken: Decodable {
  let access_token: String
  let token_type: Lenient<String>?
  let expires_in: Lenient<LenientNumber>?
  let refresh_token: Lenient<String>?
  let scope: Lenient<String>?

  /// The token as it came at a time. A lifetime of nothing, which some servers give to tokens that do not end, says nothing: the
  /// token is replaced after a 401.
  /// Throws ``OtherType`` where it is no bearer token.
  func token(_ now: Date) throws(OtherType) -> AccessToken {
    let type = token_type?.value ?? "Bearer"
    guard type.lowercased() == "bearer" else { throw OtherType(type: type) }
    let lifetime = expires_in?.value?.value ?? 0
    return AccessToken(
      access_token, issued: now, expiry: lifetime > 0 ? now.addingTimeInterval(lifetime) : nil,
      refreshToken: refresh_token?.value, scope: scope?.value)
  }
}

/// The type of a token that is no bearer token.
struct OtherType: Error {
  let type: String
}

/// A value, or nil where there is something else in its place.
struct Lenient<Value: Decodable & Sendable>: Decodable, Sendable {
  let value: Value?

  init(from decoder: any Decoder) throws { value = try? Value(from: decoder) }
}

/// A number of seconds from zero up to a thousand million, or a text that is one.
struct LenientNumber: Decodable, Sendable {
  let value: Double

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Double.self) {  // a text is read next
      value = min(max(0, number), 1e9)
    } else if let number = Double(try container.decode(String.self)), number.isFinite {
      value = min(max(0, number), 1e9)
    } else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no number")
    }
  }
}

/// The answer to a request for a device code (RFC 8628 §3.2).
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
