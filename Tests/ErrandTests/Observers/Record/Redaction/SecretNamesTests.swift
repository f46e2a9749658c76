import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Secret names, and names that only look secret, in all kinds of text.
@Suite(.timeLimit(.minutes(1))) struct SecretNamesTests {
  private let redaction = Redaction.standard

  private func json(_ body: String) -> String { redaction.body(Data(body.utf8), type: .json, limit: 1 << 20) }

  @Test(arguments: [
    "access_token", "accessToken", "access-token", "AccessToken", "ACCESS_TOKEN", "X-Access-Token", "refresh_token",
    "refreshToken", "id_token", "csrfToken", "X-CSRF-Token", "authenticity_token", "device_token", "client_secret",
    "clientSecret", "X-Client-Secret", "oauth_token_secret", "webhookSecret", "secret_id", "password", "Password",
    "newPassword", "password_confirmation", "passwordHash", "password2", "passwd", "keyPassphrase", "passcode",
    "api_key",
    "apiKey", "api-key", "X-Api-Key", "X-Goog-Api-Key", "APIKEY", "aws_secret_access_key", "secretKey", "private_key",
    "privateKeyPem", "signing_key", "signature", "X-Amz-Signature", "X-Amz-Credential", "credentials", "Authorization",
    "proxy_authorization", "client_assertion", "jwt", "userJwt", "session", "sessionId", "session_id", "JSESSIONID",
    "PHPSESSID", "session_key", "tokens", "refreshTokens", "secrets", "cookie", "otp", "totp", "pwd", "pass", "sid",
    "hmac",
    "device_code", "authorization_code", "code_verifier", "recovery_codes", "tokenValue", "secretText",
  ]) func `hides a secret name everywhere`(name: String) {
    #expect(json(#"{"a":{"\#(name)":"s3cret"}}"#) == #"{"a":{"\#(name)":"<redacted>"}}"#)
    #expect(json(#"{"a":[{"\#(name)":["s3cret"]}]}"#) == #"{"a":[{"\#(name)":["<redacted>"]}]}"#)
    #expect(redaction(address: "https://a.test/?b=1&\(name)=s3cret") == "https://a.test/?b=1&\(name)=<redacted>")
    let form = redaction.body(Data("\(name)=s3cret&b=1".utf8), type: .form, limit: 100)
    #expect(form == "\(name)=<redacted>&b=1")
    #expect(redaction([HTTPHeaderName(name): "s3cret"]).first?.value == Redaction.mark)
    #expect(!redaction(text: "see \(name)=s3cret, or <\(name)>s3cret</\(name)>").contains("s3cret"))
    #expect(json(#"{"raw":"{\"\#(name)\":\"s3cret\"}"}"#) == #"{"raw":"{\"\#(name)\":\"<redacted>\"}"}"#)
  }

  @Test(arguments: [
    "sessionCount", "session_start", "possession", "tokenizer", "tokenCount", "token_type", "tokenExpiry",
    "token_endpoint", "max_tokens_per_call", "secretary", "secretLevel", "passwordHint", "password_policy",
    "passwordUpdatedAt", "passenger", "compass", "authorization_endpoint", "authorizationUrl", "author", "authority",
    "credentialType", "signatureAlgorithm", "signature_method", "assertionType", "keyboard", "keyword", "public_key",
    "foreign_key", "primaryKey", "Idempotency-Key", "jwtAlgorithm", "countryCode", "error_code", "statusCode", "codec",
    "zip_code", "nextPageToken", "page_token", "continuationToken", "sidebar", "sigma", "passed", "bypass",
    "cookiePolicy",
    "cookiesEnabled", "client_id", "accessKeyName",
  ]) func `does not redact a value whose name merely contains a secret name`(name: String) {
    let body = #"{"\#(name)":"value1","a":{"\#(name)":3},"b":[{"\#(name)":[true]}]}"#
    #expect(json(body) == body)
    let address = "https://a.test/?\(name)=value1"
    #expect(redaction(address: address) == address)
    let form = "\(name)=value1&b=1"
    #expect(redaction.body(Data(form.utf8), type: .form, limit: 100) == form)
    #expect(redaction([HTTPHeaderName(name): "value1"]).first?.value == "value1")
    let text = "see \(name)=value1, <\(name)>value1</\(name)> or \(name): value1"
    #expect(redaction(text: text) == text)
  }

  @Test(arguments: [
    (#"{"password":1234,"otp":-12.5e3}"#, #"{"password":0,"otp":0}"#),
    (#"{"password":true,"token":null,"secret":false}"#, #"{"password":true,"token":null,"secret":false}"#),
    (#"{"tokens":120,"total_tokens":7.5,"secrets":[1,2]}"#, #"{"tokens":120,"total_tokens":7.5,"secrets":[0,0]}"#),
    (#"{"tokens":{"input":9,"hash":"x1"}}"#, #"{"tokens":{"input":9,"hash":"<redacted>"}}"#),
    (
      #"{"token":{"value":"x","days":3,"list":["a",4,[true]],"none":{}},"b":"x"}"#,
      #"{"token":{"value":"<redacted>","days":0,"list":["<redacted>",0,[true]],"none":{}},"b":"x"}"#
    ),
    (#"{"tokens":{"s3cret-1":{"isOld":true}}}"#, #"{"tokens":{"<redacted>":{"isOld":true}}}"#),
    (#"{"password" : "a\\" , "b" : "x"}"#, #"{"password" : "<redacted>" , "b" : "x"}"#),
    (#"{"raw":"{\"token\":5,\"b\":1}"}"#, #"{"raw":"{\"token\":0,\"b\":1}"}"#),
    (
      #"{"raw":"{\"token\":{\"value\":\"x\",\"days\":3},\"b\":1}"}"#,
      #"{"raw":"{\"token\":{\"value\":\"<redacted>\",\"days\":0},\"b\":1}"}"#
    ),
    (#"{"password":s3cret,"b":1}"#, #"{"password":"<redacted>","b":1}"#),
    (#"{"password":{"a":"s3cre"#, #"{"password":{"a":"<redacted>""#), (#"{"password":"#, #"{"password":"#),
  ]) func `a hidden JSON value keeps its type`(body: String, shown: String) {
    #expect(json(body) == shown)
    #expect(json(shown) == shown, "redacting a recording again changes nothing, so recordings can be compared")
  }

  @Test(arguments: [
    #"{"code":"s3cret","grant_type":"authorization_code"}"#, #"{"grantType":"x","auth":{"code":"s3cret"}}"#,
    #"{"code":"s3cret","redirect_uri":"https://a.test"}"#, #"{"code":"s3cret","codeVerifier":"x"}"#,
    #"{"client_id":"a","client_secret":"b","code":"s3cret"}"#, #"{"oauth":{"a":1},"oauth.code":"s3cret"}"#,
    #"{"code":"4/0AX4XfWhs3cret","state":"x"}"#, #"{"next":"https://a.test/cb?code=s3cret&state=1"}"#,
    #"{"next":"https://a.test/cb?state=1&code=S3CRET"}"#, #"{"form":"grant_type=authorization_code&code=S3CRET"}"#,
    #"{"raw":"{\"code\":\"s3cret\",\"grant_type\":\"x\"}"}"#, "<a><grant_type>x</grant_type><code>s3cret</code></a>",
    "code=S3CRET&grant_type=authorization_code", "code=s3cret", "https://a.test/cb?code=s3cret",
  ]) func `hides the code of an OAuth exchange`(body: String) {
    for type in [MediaType.json, .plainText] {
      let shown = redaction.body(Data(body.utf8), type: type, limit: 1000)
      #expect(!shown.lowercased().contains("s3cret") && shown.contains(Redaction.mark), "\(shown)")
    }
  }

  @Test(arguments: [
    #"{"code":"NAME_UNKNOWN"}"#, #"{"code":"not_found_2"}"#, #"{"code":42,"Code":"E7"}"#,
    #"{"code":"auth/user-not-found"}"#, #"{"code":"validation.email2.invalid","state":"failed"}"#,
    #"{"code":"94107","state":"California"}"#, #"{"next":"https://a.test/countries?code=DE"}"#,
    #"{"raw":"{\"code\":\"not_found_2\"}"}"#, "<Error><Code>NoSuchKey1</Code></Error>", "code: E7", "?code=404&page=2",
    #"{"key":"PROJ-1","value":"red"}"#, #"{"key":"colour"}"#, #"{"key":7}"#, #"{"tokenId":"42"}"#,
  ]) func `does not redact a code or key unrelated to authentication`(body: String) {
    for type in [MediaType.json, .plainText] {
      #expect(redaction.body(Data(body.utf8), type: type, limit: 1000) == body)
    }
  }

  @Test(arguments: [#"{"key":"sk-3f9a8b7c"}"#, #"{"Key":"AKIA1234567890ABCDEF"}"#, #"{"token_id":"AQIC5wM2LY4Sfcx"}"#])
  func `hides a key that looks like an API key`(body: String) { #expect(json(body).contains(Redaction.mark)) }

  @Test func `applies custom endings, fields and fragments`() {
    var own = redaction
    own.endings.insert("pin")
    own.fields.insert("ssn")
    own.fragments.insert("code")
    func shown(_ body: String) -> String { own.body(Data(body.utf8), type: .json, limit: 1000) }
    #expect(shown(#"{"cardPin":"1","pinned":"2"}"#) == #"{"cardPin":"<redacted>","pinned":"2"}"#)
    #expect(shown(#"{"ssn":"1","ssnKnown":"2"}"#) == #"{"ssn":"<redacted>","ssnKnown":"2"}"#)
    #expect(shown(#"{"country":{"code":"DE"}}"#) == #"{"country":{"code":"<redacted>"}}"#)
    #expect(!own.hidesSame(as: redaction))
    own.endings = []
    #expect(shown(#"{"token":"1"}"#) == #"{"token":"1"}"#)
  }

  private static let list = """
    <plist version="1.0"><dict><key>line1</key><string>shown</string><key>password</key>
    <string>s3cret</string><key>otp</key><integer>271</integer><key>hasToken</key><true/></dict></plist>
    """

  @Test func `a redacted property list keeps its keys and types`() throws {
    struct List: Codable, Equatable { let line1: String, password: String, otp: Int, hasToken: Bool }
    let shown = redaction.body(Data(Self.list.utf8), type: "application/x-plist", limit: 1000)
    let list = try PropertyListDecoder().decode(List.self, from: Data(redaction(text: Self.list).utf8))
    #expect(list == List(line1: "shown", password: Redaction.mark, otp: 0, hasToken: true))
    #expect(!shown.contains("s3cret") && !shown.contains("271"))
  }

  @Test(arguments: ["X-Session-Count", "X-Token-Type", "X-Secret-Level", "Password-Hint"])
  func `shows a field that only sounds secret, but does not send it to another origin`(name: HTTPHeaderName) {
    #expect(redaction([name: "1"])[name] == "1" && redaction.keepsHome(name))
  }
}
