@testable import Errand
import Foundation
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1))) struct RedactionTests {
  private let redaction = Redaction.standard

  private func text(_ body: String, _ type: MediaType = .json) -> String {
    redaction.body(Data(body.utf8), type: type, limit: 1 << 20)
  }

  @Test(arguments: [
    (#"{"password":"s3cret"}"#, #"{"password":"<redacted>"}"#),
    (#" [{"filter":"a=b","password":"s3cret"}]"#, #" [{"filter":"a=b","password":"<redacted>"}]"#),
    (#"payload={"token":"s3cret"}&at=12:30"#, "payload=<redacted>&at=12:30"),
    (#"a=1&{"token":"s3cret"}"#, "a=1&<redacted>"),
    (#"{"filter":"a&b=c","password":"s3cret"}"#, #"{"filter":"a&b=c","password":"<redacted>"}"#),
    ("password=s3cret&a=<b>", "password=<redacted>&a=<b>"),
  ])
  func `hides secrets in a body that is wrongly declared as a form`(body: String, expected: String) {
    #expect(text(body, .form) == expected)
  }

  @Test(arguments: [
    ("{Authorization=Bearer s3cret, Accept=text}", "{Authorization=<redacted> <redacted>, Accept=text}"),
    ("{authorization=SSWS s3cret, a=b}", "{authorization=<redacted> <redacted>, a=b}"),
    ("token=bearer  s3cret", "token=<redacted>  <redacted>"),
    ("token=s3cret and more", "token=<redacted> and more"),
  ])
  func `hides the word after an authentication scheme`(body: String, expected: String) {
    #expect(text(body, "text/plain") == expected)
  }

  @Test
  func `a stricter policy hides a field that was cached as visible`() {
    let field = HTTPHeaders.Field("X-Shop", "abcdefgh")
    #expect(redaction.value(of: field) == "abcdefgh" && redaction.value(of: field) == "abcdefgh")
    #expect(redaction.hiding(["X-Shop"]).value(of: field) == "<redacted>", "both policies share a cache of names")
    #expect(redaction.value(of: field) == "abcdefgh")
    var stricter = redaction
    stricter.headers.insert("X-Shop")
    #expect(stricter.value(of: field) == "<redacted>")
    stricter.headers.remove("X-Shop")
    #expect(stricter.value(of: field) == "abcdefgh")
    #expect(!redaction.hidesSame(as: redaction.hiding(["X-Shop"])))
    #expect(redaction.hiding(["X-Shop"]).hidesValue(of: "x-shop"))
    #expect(Redaction.none.hidesNothing && !Redaction.none.hiding(["X-Shop"]).hidesNothing)
    // Values of the same length, with the same first and last characters.
    for value in ["a token=s3cret-h", "Bearer s3cret..h"] {
      let plain = String(value.map { $0.isLetter ? $0 : "x" })
      #expect(redaction.value(of: HTTPHeaders.Field("X-Shop", plain)) == plain)
      #expect(!redaction.value(of: HTTPHeaders.Field("X-Shop", value)).contains("s3cret"), "\(value)")
    }
    #expect(redaction.value(of: HTTPHeaders.Field("X-Pwd1", "abcdefgh")) == "abcdefgh")
    #expect(redaction.value(of: HTTPHeaders.Field("XX-Pwd", "abcdefgh")) == "abcdefgh")
    #expect(
      redaction.value(of: HTTPHeaders.Field("X-Key", "abcdefgh")) == "<redacted>", "Key is a secret name after X-")
    var other = redaction
    other.fields.insert("X-Shop")
    #expect(other.value(of: field) == "<redacted>" && redaction.value(of: field) == "abcdefgh")
  }

  @Test func `hides each secret header field`() {
    let headers = redaction(["authorization": "Bearer s3cret", "Set-Cookie": "a", "set-cookie": "b", "Accept": "c"])
    #expect(headers.map(\.value) == ["<redacted>", "<redacted>", "<redacted>", "c"])
  }

  @Test(arguments: [
    ("https://u:s3cret@a.test/x", "https://<redacted>@a.test/x"),
    ("https://s3cret@a.test", "https://<redacted>@a.test"),
    ("https://a.test/@x?q=@", "https://a.test/@x?q=@"),
    (
      "https://a.test/?token=s3cret&page=2&Access_Token=s3cret",
      "https://a.test/?token=<redacted>&page=2&Access_Token=<redacted>"
    ),
    ("https://a.test/?%74oken=s3cret", "https://a.test/?%74oken=<redacted>"),
    ("https://a.test/?q=1&key", "https://a.test/?q=1&key=<redacted>"),
    ("https://a.test/?%7B%22token%22:%22s3cret%22%7D", "https://a.test/?<redacted>"),
    ("https://a.test/?a=%7B%22token%22:%22s3cret%22%7D&at=12:30", "https://a.test/?a=<redacted>&at=12:30"),
    ("https://a.test/x", "https://a.test/x"),
    ("https://u:s3cret@a.test?sig=s3cret#f", "https://<redacted>@a.test?sig=<redacted>#f"),
    ("https://a.test/cb#access_token=s3cret&state=1", "https://a.test/cb#access_token=<redacted>&state=1"),
    ("https://a.test/x;jsessionid=s3cret", "https://a.test/x;jsessionid=<redacted>"),
    ("https://a.test/?next=https%3A%2F%2Fb.test%2F%3Ftoken%3Ds3cret&p=1", "https://a.test/?next=<redacted>&p=1"),
    ("https://a.test/?next=https%253A%252F%252Fb.test%253Fkey%253Ds3cret", "https://a.test/?next=<redacted>"),
    ("https://a.test/?q=100%25&r=a%20b", "https://a.test/?q=100%25&r=a%20b"),
    ("https://a.test/fetch/https://u:s3cret@b.test/x", "https://a.test/fetch/https://<redacted>@b.test/x"),
    ("https://a.test/?https://u:s3cret@b.test/", "https://a.test/?<redacted>"),
    ("https://a.test/?https://u:s3cret@b.test/?x=1&y=2", "https://a.test/?<redacted>&y=2"),
    ("https://a.test/fetch/https%3A%2F%2Fu%3As3cret%40b.test", "https://a.test/fetch/<redacted>"),
    ("https://a.test/https%3a%2f%2fb.test%3Ftoken%3Ds3cret/y", "https://a.test/<redacted>/y"),
    ("https://a.test/caf%C3%A9/https%3A%2F%2Fb.test", "https://a.test/caf%C3%A9/https%3A%2F%2Fb.test"),
    ("https://a.test/proxy/https%3A//u:s3cret@b.test/x", "https://a.test/proxy/<redacted>"),
    ("https://a.test/a=1/https%253A%252F%252Fu%253As3cret%2540b.test", "https://a.test/a=<redacted>"),
    ("https://a.test/a%20b/sessions:list/items/7", "https://a.test/a%20b/sessions:list/items/7"),
    ("https://a.test/my%2Fapp/app:1.0@sha256:ab", "https://a.test/my%2Fapp/app:1.0@sha256:ab"),
    ("https://a.test/https%253A%252F%252Fu%253As3cret%2540b.test", "https://a.test/<redacted>"),
    ("https://a.test/https%3A%2F%2Fu%3As3cret%40b.test%2F%E9", "https://a.test/<redacted>"),
  ])
  func `hides user names, passwords and secret query values in a URL`(url: String, expected: String) throws {
    #expect(redaction(try #require(URL(string: url))) == expected)
  }

  @Test(arguments: [
    (#"{"password":"s3cret","name":"x"}"#, #"{"password":"<redacted>","name":"x"}"#),
    (
      #"{"a":{"Access_Token" : "s3\"cret"},"b":[{"otp":12.5}]}"#,
      #"{"a":{"Access_Token" : "<redacted>"},"b":[{"otp":0}]}"#
    ),
    (#"{"token":null,"secret":true}"#, #"{"token":null,"secret":true}"#),
    (#"{"password":"s3cre"#, #"{"password":"<redacted>""#),
    (#"{"password":"s3cre\"#, #"{"password":"<redacted>""#),
    (#"{"note":"password"}"#, #"{"note":"password"}"#),
    (#"{"a":"\"token\":\"b"}"#, #"{"a":"\"token\":\"<redacted>"}"#),
    (#"{"a":"{\"token\":\"b\",\"c\":\"d\"}"}"#, #"{"a":"{\"token\":\"<redacted>\",\"c\":\"d\"}"}"#),
  ])
  func `hides secret members of JSON, even if it is truncated`(body: String, expected: String) {
    #expect(text(body) == expected)
  }

  @Test(arguments: [
    #"{"password":["s3cret","s3cret"]}"#, #"{"token":{"value":"s3cret"},"name":"x"}"#,
    #"{"secret":[["s3cret"],{"a":"s3cret"}"#,
    #"{"pass\u0077ord":"s3cret"}"#, "{\"password\":\n\t[ \"s3cret\" ]}",
  ])
  func `hides all content of a secret member, regardless of how its name is written`(body: String) {
    #expect(!text(body).contains("s3cret"))
  }

  @Test func `hides secret fields of a form`() {
    #expect(
      text("user=a&password=s3cret&client%5Fsecret=s3cret", .form)
        == "user=a&password=<redacted>&client%5Fsecret=<redacted>")
  }

  @Test func `shows a placeholder for binary and large bodies`() {
    #expect(redaction.body(Data([0xFF, 0xFE]), type: nil, limit: 10) == "<2 bytes of data>")
    #expect(redaction.body(Data([1, 2]), type: "image/png", limit: 10) == "<2 bytes of image/png>")
    #expect(redaction.body(Data(count: 11), type: .json, limit: 10) == "<11 bytes, over the limit of 10>")
    #expect(redaction.body(Data(), type: .json, limit: 10) == "")
  }

  @Test func `compares custom names case-insensitively`() {
    let own = Redaction(headers: ["X-Mine"], fields: ["PIN"])
    #expect(own(["x-mine": "1"])["X-Mine"] == Redaction.mark)
    #expect(own.body(Data(#"{"pin":1}"#.utf8), type: .json, limit: 100) == #"{"pin":0}"#)
  }

  @Test func `the empty redaction hides only the user name in a URL`() throws {
    #expect(Redaction.none(["Authorization": "a"])["Authorization"] == "a")
    #expect(Redaction.none.body(Data(#"{"password":"a"}"#.utf8), type: .json, limit: 100) == #"{"password":"a"}"#)
    let url = try #require(URL(string: "https://u:s3cret@a.test/?token=b#key=c"))
    #expect(Redaction.none(url) == "https://<redacted>@a.test/?token=b#key=c")
    #expect(Redaction.none([.location: url.absoluteString])[.location] == "https://<redacted>@a.test/?token=b#key=c")
  }

  /// Returns the shortest time of three runs.
  private func time(_ body: String) -> Duration {
    (0..<3).map { _ in processorTime { #expect(!text(body).contains("s3cret")) } }.min() ?? .zero
  }

  @Test(arguments: [
    "\"a\":\"b=c https://a.test/?q=1\",", "a=%3D", ":", "=", "a=\"", "<token", "a:", "://", "%25", "a=&", "token: \"",
    "\\\"token\\\":{", "<token><", "token = ", "'token': ", "\\",
  ])
  func `redacts a large body in linear time`(piece: String) {
    let end = " \"password\":\"s3cret\""
    let small = time(String(repeating: piece, count: 250) + end)
    let large = time(String(repeating: piece, count: 4000) + end)
    // The large input takes 16 times as long in linear time and 256 times as long in quadratic time.
    #expect(large < max(small, .microseconds(100)) * 100, "small: \(small), large: \(large)")
  }

  @Test(arguments: [
    "%3A%2F%2F/", "%3A%2F%2F\"a\" ", "%3A%2F%2F", "cb%3Fcode%3D/", "\\u0026 ", "\\u0026\"", "\\u0026\\\"", "\\\\u0026",
    "\\\\",
    "<token>x<b>", "<token>x</b>", "<token><token></token>", "<token>x</token", "token :", "token : \"a\" ", " :",
    "a=%41\\u0026b=%41\\\\u0026 ",
  ]) func `scans repeated markers in linear time`(piece: String) {
    let small = time(String(repeating: piece, count: 250))
    let large = time(String(repeating: piece, count: 2000))
    // The large input takes 8 times as long in linear time and 64 times as long in quadratic time.
    #expect(large < max(small, .microseconds(500)) * 25, "small: \(small), large: \(large)")
  }

  @Test func `scans elements with many names in linear time`() {
    func text(_ count: Int) -> String { (0..<count).map { "<token\($0)>x<token\($0)>" }.joined() }
    let (small, large) = (time(text(250)), time(text(2000)))
    #expect(large < max(small, .microseconds(500)) * 25, "small: \(small), large: \(large)")
  }

  /// Input that a peer can send to slow down the redaction of a recorded call.
  @Test(arguments: ["a:", "=", "ab=", "ab: "])
  func `redacting text full of names is not much slower than redacting plain text`(piece: String) {
    let size = 1 << 15
    let end = " \"password\":\"s3cret\""
    let plain = time(String(repeating: "word ", count: size / 5) + end)
    let names = time(String(repeating: piece, count: size / piece.utf8.count) + end)
    #expect(names < max(plain, .milliseconds(1)) * 15, "plain: \(plain), full of names: \(names)")
  }

  @Test(arguments: [
    "accessToken", "refresh_token", "refresh-token", "REFRESHTOKEN", "clientSecret", "newPassword", "X-Session-Token",
    "X-Amz-Signature", "X-Goog-Api-Key", "apiKey", "aws_secret_access_key", "sessionId", "credentials", "passwd",
    "X-Authorization", "privateKey", "Api_Key", "id-token",
  ])
  func `recognizes a secret name in any spelling and position`(name: String) throws {
    #expect(redaction([HTTPHeaderName(name): "s3cret"]).first?.value == "<redacted>")
    #expect(HTTPHeaders([.init(HTTPHeaderName(name), "s3cret")]).description == "\(name): <redacted>")
    let url = try #require(URL(string: "https://a.test/?\(name)=s3cret"))
    #expect(redaction(url) == "https://a.test/?\(name)=<redacted>")
    #expect(text(#"{"\#(name)":"s3cret"}"#) == #"{"\#(name)":"<redacted>"}"#)
    #expect(text("a=b&\(name)=s3cret", .form) == "a=b&\(name)=<redacted>")
    #expect(text("see \(name)=s3cret, or <\(name)>s3cret</\(name)>", .plainText).contains("s3cret") == false)
  }

  @Test(
    arguments: [
      (HTTPHeaderName.location, "https://admin:hunter2@a.test/x", "https://<redacted>@a.test/x"),
      (.location, "/cb?code=s3cret&state=1", "/cb?code=<redacted>&state=1"),
      (.location, "//admin:hunter2@a.test/x", "//<redacted>@a.test/x"),
      (
        .link, "<https://a.test/?p=2&api_key=s3cret>; rel=\"next\"",
        "<https://a.test/?p=2&api_key=<redacted>>; rel=\"next\""
      ),
      ("Referer", "https://a.test/?q=1&sessionId=s3cret#x", "https://a.test/?q=1&sessionId=<redacted>#x"),
      ("Via", "1.1 admin:hunter2@proxy.test", "1.1 <redacted>@proxy.test"),
      ("Refresh", "0; url=https://a.test/?token=s3cret", "0; url=https://a.test/?token=<redacted>"),
      ("X-Forwarded", "a;token=\"s3\";b=c", "a;token=\"<redacted>\";b=c"),
      (.date, "Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:00 GMT"),
      (.cacheControl, "max-age=60, private", "max-age=60, private"),
      ("Access-Control-Allow-Credentials", "true", "true"),
    ] as [(HTTPHeaderName, String, String)])
  func `redacts URLs anywhere in a header`(name: HTTPHeaderName, value: String, expected: String) {
    #expect(redaction([name: value])[name] == expected)
    #expect(HTTPHeaders([.init(name, value)]).description == "\(name): \(expected)")
  }

  @Test(arguments: [
    "admin:hunter2@db.test", "cannot reach https:\\/\\/admin:hunter2@db.test\\/x", "invalid token: hunter2",
    "<Password>hunter2</Password>", "<a href='https://a.test/?secret=hunter2'>x</a>", "Api-Key: hunter2\r\nA: b",
  ])
  func `redacts secrets in any kind of text`(words: String) {
    #expect(!text(words, .plainText).contains("hunter2"), "\(text(words, .plainText))")
  }

  @Test(arguments: [
    #"{"query":"mutation { login(user: \"a\", password: \"hunter2\") { id } }"}"#,
    #"{"body":"{\"password\":\"hunter2\"}"}"#, #"{"body":"{\\\"password\\\":\\\"hunter2\\\"}"}"#,
    #"{"body":"{\"token\":{\"value\":\"hunter2\"},\"b\":1}"}"#, #"{"body":"{\"password\" : 1\u0068unter2}"}"#,
    #"{"message":"bad password: \"hunter2\""}"#, #"{"message":"password=\"hunter2\" is bad"}"#,
    "login(user: \"a\", password: \"hunter2\")", "{'password': 'hunter2', 'a': 'b'}", "{password:\"hunter2\"}",
    "password: \"hunter2\"", "password: 'hunter2'", "password = \"hunter2\"", "password = hunter2", "password= hunter2",
    "<password><![CDATA[hunter2]]></password>", "<token><value>hunter2</value></token>",
    "<token> <value>hunter2</value>",
    "<a password = \"hunter2\"/>", "Password = 'hunter2';",
  ])
  func `hides secrets in nested strings and behind whitespace and quotes`(words: String) {
    for type in [MediaType.json, .plainText] {
      #expect(!text(words, type).contains("hunter2"), "\(text(words, type))")
    }
    #expect(Redaction.none.body(Data(words.utf8), type: .plainText, limit: 1000) == words)
  }

  @Test func `redacts JSON that is nested in a form or a query`() throws {
    let json = "%7B%22password%22%3A%22hunter2%22%7D"
    #expect(text("a=\(json)&b=c", .form) == "a=<redacted>&b=c")
    #expect(text("password%3Dhunter2&b=c", .form) == "<redacted>&b=c")
    #expect(redaction(try #require(URL(string: "https://a.test/?a=\(json)&b=c"))) == "https://a.test/?a=<redacted>&b=c")
  }

  @Test(arguments: [
    "passcode", "client_assertion", "Ocp-Apim-Subscription-Key", "X-Functions-Key", "X-Parse-Master-Key", "AccountKey",
    "DD-APPLICATION-KEY", "X-Jwt", "X-Otp", "X-Cookie", "SAMLResponse", "device_code", "keyPassphrase", "AccessKeyId",
    "user_jwt", "X-Signing-Key", "encryptionKey", "auth", "pwd", "pass", "sid", "cookies", "hmac", "code_verifier",
    "auth_code", "Cookie2", "Set-Cookie2", "Authentication-Info", "Proxy-Authentication-Info", "X-Auth", "X-Auth-Key",
  ])
  func `recognizes the key names of common services`(name: String) {
    #expect(redaction([HTTPHeaderName(name): "s3cret"]).first?.value == "<redacted>")
    #expect(Redaction.standard(["X-Frame-Options": "a", "Idempotency-Key": "b"]).map(\.value) == ["a", "b"])
  }

  @Test(arguments: ["status code: 42", "a:b", "12:30:05", "x < y", "a = b", "", "http://a.test/a:b", "key: value"])
  func `does not change text without secrets`(words: String) { #expect(text(words, .plainText) == words) }

  @Test func `replaces control and format characters when joining lines`() {
    let text = "a\r\nb\u{1b}[2Jc\u{9b}d\u{7f}e\u{202e}f\u{2028}g"
    #expect(text.onOneLine == "a  b [2Jc d e f g")
    #expect("\(TaskError(.badResponse, text, phase: .receiving))" == "a  b [2Jc d e f g")
    #expect(Redaction.standard.excerpt(of: Data(text.utf8), type: .plainText, count: 100) == "a b [2Jc d e f g")
  }

  @Test(arguments: ["pwd", "pass", "otp", "sid", "key"]) func `recognizes nested secret names`(name: String) {
    for nested in ["login[\(name)]", "a.\(name)", "a[\(name)][0]", "a%5B\(name)%5D"] {
      #expect(redaction(address: "https://a.test/?\(nested)=s3cret&b=1").hasSuffix("=<redacted>&b=1"), "\(nested)")
      #expect(text("\(nested)=s3cret&b=1", .form).hasSuffix("=<redacted>&b=1"), "\(nested)")
      #expect(!redaction(text: "sent \(nested)=s3cret").contains("s3cret"), "\(nested)")
    }
    #expect(!text("{\"user.\(name)\":\"s3cret\"}").contains("s3cret"))
    #expect(!redaction(text: "<ns:\(name)>s3cret</ns:\(name)>").contains("s3cret"))
    #expect(text("spin[top]=1", .form) == "spin[top]=1")
  }

  @Test(arguments: [
    ("/proxy/https%3A%2F%2Fa.test%3Ftoken%3Ds3cret?size=1&sig=s3cret", "/proxy/<redacted>?size=1&sig=<redacted>"),
    (
      "/go/https%3A%2F%2Fa.test%2F%E9?next=https%3A%2F%2Fb.test%2F%3Ftoken%3Ds3cret",
      "/go/https%3A%2F%2Fa.test%2F%E9?next=<redacted>"
    ),
    ("<a>https%3A%2F%2Fx%3Ftoken%3Ds3cret<password>s3cret</password>", "<a><redacted><password><redacted></password>"),
    ("see 100% of https%3A%2F%2Fa.test now", "see 100% of https%3A%2F%2Fa.test now"),
    ("GET /proxy/https%3A%2F%2Fme%3As3(cret%40b.test x", "GET /proxy/<redacted> x"),
    ("at https%3A%2F%2Fa.test%2Fcb%3Fcode=s3cret&x=1", "at <redacted>&x=1"),
  ]) func `redacts an encoded URL only if it contains a secret`(words: String, shown: String) {
    #expect(redaction(text: words) == shown)
  }

  @Test(arguments: [
    (
      #"401 Unauthorized: {"login":"https://a.test/?session_id=s3cret","message":"expired"}"#,
      #"401 Unauthorized: {"login":"https://a.test/?session_id=<redacted>","message":"expired"}"#
    ),
    (
      #"{"docs":"https://docs.test","contact":"help@shop.test"}"#,
      #"{"docs":"https://docs.test","contact":"help@shop.test"}"#
    ),
    (
      "no token: 'https://a.test/?token=<redacted>&q=1' of <https://u:s3cret@b.test>",
      "no token: 'https://a.test/?token=<redacted>&q=1' of <https://<redacted>@b.test>"
    ),
    ("token: kept, 1://2", "token: kept, 1://2"),
    ("the gateway https://me:pa's3cret@a.test refused", "the gateway https://<redacted>@a.test refused"),
    ("'https://a.test/?token=s3'cret', it is", "'https://a.test/?token=<redacted>', it is"),
    (
      "can't sign https://a.test/T?$filter=name%20eq%20'x'&sig=s3cret.",
      "can't sign https://a.test/T?$filter=name%20eq%20'x'&sig=<redacted>"
    ),
    ("can't read 'https://a.test/?q=1'. Why?", "can't read 'https://a.test/?q=1'. Why?"),
    ("can't read 'https://a.test/?sig=s3cret'", "can't read 'https://a.test/?sig=<redacted>'"),
  ]) func `redacts only the URLs in the library's own messages`(words: String, shown: String) {
    #expect(redaction.hidingInURLs(of: words) == shown)
  }

  @Test(arguments: ["\n ", "\r ", "\n {", "\n \"", "\n  [ "])
  func `scans an unterminated string only once`(line: String) {
    let text = "@\"x" + String(repeating: line, count: 100_000) + "\"token\": \"s3cret\""
    #expect(!redaction(text: text).contains("s3cret"))
  }

  @Test func `scans a name with many parts only once`() {
    let name = String(repeating: "a.", count: 40_000) + "s" + String(repeating: ".code", count: 40_000)
    #expect(redaction.kind(of: name) == .code && redaction.kind(of: name + ".pwd") == .secret)
    let escaped = String(repeating: "%3A%2F%2F", count: 30_000)
    #expect(redaction(text: escaped) == escaped)
  }

  @Test func `hides an OAuth code in a form, but not other codes`() {
    for body in [#"{"error.code":"E7"}"#, #"{"http.status.code":200}"#] { #expect(text(body) == body) }
    let fault = "<env:Code><env:Value>env:Sender</env:Value></env:Code>"
    #expect(text(fault, "application/soap+xml") == fault)
    #expect(text("grant.code=s3cret", .form) == "grant.code=<redacted>")
    #expect(text(#"{"oauth.code":"s3cret"}"#) == #"{"oauth.code":"<redacted>"}"#)
    #expect(!text("<oauth:code>s3cret</oauth:code>", "application/xml").contains("s3cret"))
    #expect(redaction(address: "https://a.test/?oauth.code=s3cret") == "https://a.test/?oauth.code=<redacted>")
    #expect(
      text("grant[code]=s3cret", .form) == "grant[code]=<redacted>" && text("code=s3cret", .form) == "code=<redacted>")
  }

  @Test(arguments: ["Basic", "bearer", "Digest", "Negotiate", "DPoP"])
  func `recognizes a credential in any field by its authentication scheme`(scheme: String) {
    for name in ["X-Upstream", "Via-Proxy"] {
      let field = HTTPHeaders.Field(HTTPHeaderName(name), "\(scheme) s3cret+/=")
      #expect(redaction.value(of: field) == "\(scheme) <redacted>")
      for blanks in ["  ", "\t"] {
        #expect(redaction.value(of: .init(field.name, "\(scheme)\(blanks)s3cret")) == "\(scheme) <redacted>")
      }
    }
    let offer = HTTPHeaders.Field(.wwwAuthenticate, "\(scheme) realm=\"shop\"")
    #expect(redaction.value(of: offer) == offer.value)
    #expect(redaction.value(of: HTTPHeaders.Field("X-Note", "\(scheme) for all of us")) == "\(scheme) for all of us")
    #expect(Redaction.none.value(of: HTTPHeaders.Field("X-Upstream", "\(scheme) x")) == "\(scheme) x")
  }
}
