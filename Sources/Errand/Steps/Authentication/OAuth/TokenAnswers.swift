import ErrandFoundation

/// A refusal as a token endpoint states it (RFC 6749 §5.2).
struct StatedRefusal: Decodable {
  let error: String
  let error_description: String?
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
  let device_code: String
  let user_code: String
  let verification_uri: URL
  let verification_uri_complete: URL?
  let expires_in: LenientNumber
  let interval: LenientNumber?

  var prompt: OAuth2.DevicePrompt {
    OAuth2.DevicePrompt(
      userCode: user_code, verificationURL: verification_uri, completeURL: verification_uri_complete,
      lifetime: .seconds(expires_in.value))
  }
}
