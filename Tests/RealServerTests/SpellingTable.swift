import Errand
import ErrandTesting
import Foundation

/// Plausible ways to write a task, both valid and invalid. Each one is sent, fails the call, is reported, or does not
/// compile. None is silently ignored.
enum SpellingTable {
  // MARK: Sent

  private struct P1: ServerTask { let path = "a/b" }
  private struct P2: ServerTask { var path: String { "a/\(segment: "b/c")" } }
  private struct P3: ServerTask { let path = ["a", "b c"] }
  private struct P4: ServerTask { var path: [String] { ["a", "50%"] } }
  private struct P5: ServerTask {
    let path = "a"
    let query = ["q": "1"]
  }

  private struct Page: Encodable {
    let q = "a b"
    let page: Int? = 2
    let next: String? = nil
  }
  private struct Q1: ServerTask { let query = ["q": "a b", "page": "2"] }
  private struct Q2: ServerTask { let query: [String: String?] = ["q": "a b", "page": nil] }
  private struct Q3: ServerTask { let query = [("q", "a"), ("p", "b")] }
  private struct Q4: ServerTask { let query: [(String, String?)] = [("q", "a"), ("none", nil), ("p", "b")] }
  private struct Q5: ServerTask { let query: KeyValuePairs = ["q": "a", "p": "b"] }
  private struct Q6: ServerTask { let query: KeyValuePairs<String, String?> = ["q": "a", "none": nil] }
  private struct Q7: ServerTask { let query = Page() }
  private struct Q8: ServerTask { let query: HTTPQuery = ["q": "a b", "none": nil] }
  private struct Q9: ServerTask { let query: [String: Int] = ["page": 2] }
  private struct Q10: ServerTask { var query: [URLQueryItem] { [URLQueryItem(name: "q", value: "a")] } }
  private struct Q11<Value: Encodable & Sendable>: ServerTask {
    let value: Value
    var query: [String: Value] { ["v": value] }
  }
  private enum Q12: String, ServerTask {
    case hot, new
    var query: [String: String] { ["sort": rawValue] }
  }
  private struct Q13: ServerTask {
    let query = ["v": [1, 2]]
    let encoder = FormEncoder(FormStyle(lists: .brackets))
  }
  private struct O1: ServerTask { let query: [String: String]? }
  private struct O2: ServerTask { let query: HTTPQuery? }
  private struct O3: ServerTask { var query: [URLQueryItem]? }
  private struct O4: ServerTask { let query: [(String, String)]? }
  private struct O5: ServerTask { let query: [(String, String?)]? }
  private struct O6: ServerTask { let query: KeyValuePairs<String, String>? }
  private struct O7: ServerTask { let query: KeyValuePairs<String, String?>? }
  private struct O8: ServerTask { let query: Page? }

  private struct Fields: Encodable {
    enum CodingKeys: String, CodingKey { case key = "X-Key" }
    let key = "v"
  }
  private struct H1: ServerTask { let headers = ["X-Key": "v"] }
  private struct H2: ServerTask { let headers = [("X-Key", "v"), ("X-Key", "w")] }
  private struct H3: ServerTask { let headers: KeyValuePairs = ["X-Key": "v"] }
  private struct H4: ServerTask { let headers: [HTTPHeaderName: String] = ["X-Key": "v"] }
  private struct H5: ServerTask { let headers: HTTPHeaders = ["X-Key": "v"] }
  private struct H6: ServerTask { let headers = Fields() }
  private struct H7: ServerTask { let headers = ["X-Key": 7] }
  private struct H8: ServerTask { let headers: [String: String?] = ["X-Key": "v", "X-None": nil] }
  private struct H9: ServerTask { let headers: [(String, String?)] = [("X-Key", "v"), ("X-Key", nil)] }
  private struct H10: ServerTask { let headers: KeyValuePairs<String, String?> = ["X-Key": "v", "X-Key": nil] }
  // The example date in RFC 9110 §5.6.7.
  private struct H11: ServerTask { let headers = ["X-Key": Date(timeIntervalSince1970: 784_111_777)] }
  private struct H12: Keyed { let key = "v" }
  private struct H13: Keyed, ServerGETTask, PayloadDownloadingTask {
    typealias DownloadPayload = Data
    let key = "v"
  }
  private struct I1: ServerTask { let headers: [String: String]? }
  private struct I2: ServerTask { let headers: HTTPHeaders? }
  private struct I3: ServerTask { let headers: [HTTPHeaderName: String]? }
  private struct I4: ServerTask { let headers: [(String, String)]? }
  private struct I5: ServerTask { let headers: [(String, String?)]? }
  private struct I6: ServerTask { let headers: KeyValuePairs<String, String>? }
  private struct I7: ServerTask { let headers: KeyValuePairs<String, String?>? }
  private struct I8: ServerTask { let headers: Fields? }

  private struct B1: PayloadUploadingTask { let uploadPayload = ["a": 1] }
  private struct B2: PayloadUploadingTask { let uploadPayload: [String: Int]? }
  private struct B3: FormUploadingTask { let uploadPayload = ["a": "b c"] }
  private struct B4: PayloadUploadingTask {
    let uploadPayload = ["a": 1]
    let encoder = FormEncoder()
  }
  private struct B5: PayloadUploadingTask {
    let uploadPayload = ["a": 1]
    let encoder: (any BodyEncoder)?
  }
  private struct B6: ServerPUTTask, DataUploadingTask { let uploadData = Data("a".utf8) }
  private struct B7: ServerPOSTTask { let parameters = ["a": 1] }
  private struct B8: ServerGETTask { let parameters: [String: Int]? }
  private struct B9: ServerPOSTTask, PayloadUploadingTask { let uploadPayload: String? }
  private struct M1: ServerTask { let httpMethod = HTTPMethod.patch }
  private struct M2: ServerGETTask, ServerPOSTTask { var httpMethod: HTTPMethod { .delete } }

  /// The method, target, header `X-Key` and body that the server receives.
  static let sent: [(any ServerTask, String)] = [
    (P1(), "GET /a/b"), (P2(), "GET /a/b%2Fc"), (P3(), "GET /a/b%20c"), (P4(), "GET /a/50%25"), (P5(), "GET /a?q=1"),
    (Q1(), "GET /?page=2&q=a%20b"), (Q2(), "GET /?q=a%20b"), (Q3(), "GET /?q=a&p=b"), (Q4(), "GET /?q=a&p=b"),
    (Q5(), "GET /?q=a&p=b"), (Q6(), "GET /?q=a"), (Q7(), "GET /?q=a%20b&page=2"), (Q8(), "GET /?q=a%20b"),
    (Q9(), "GET /?page=2"), (Q10(), "GET /?q=a"), (Q11(value: true), "GET /?v=true"),
    (Q11(value: [1, 2]), "GET /?v=1&v=2"), (Q11<Int?>(value: nil), "GET /"), (Q12.hot, "GET /?sort=hot"),
    (Q13(), "GET /?v%5B%5D=1&v%5B%5D=2"),
    (O1(query: ["q": "a"]), "GET /?q=a"), (O1(query: nil), "GET /"), (O2(query: ["q": "a"]), "GET /?q=a"),
    (O2(query: nil), "GET /"), (O3(query: [URLQueryItem(name: "q", value: "a")]), "GET /?q=a"), (O3(), "GET /"),
    (O4(query: [("q", "a")]), "GET /?q=a"), (O4(query: nil), "GET /"), (O5(query: [("q", "a")]), "GET /?q=a"),
    (O5(query: nil), "GET /"), (O6(query: ["q": "a"]), "GET /?q=a"), (O6(query: nil), "GET /"),
    (O7(query: ["q": "a"]), "GET /?q=a"), (O7(query: nil), "GET /"), (O8(query: Page()), "GET /?q=a%20b&page=2"),
    (O8(query: nil), "GET /"),
    (H1(), "GET / X-Key: v"), (H2(), "GET / X-Key: v, w"), (H3(), "GET / X-Key: v"), (H4(), "GET / X-Key: v"),
    (H5(), "GET / X-Key: v"), (H6(), "GET / X-Key: v"), (H7(), "GET / X-Key: 7"), (H8(), "GET / X-Key: v"),
    (H9(), "GET / X-Key: v"), (H10(), "GET / X-Key: v"), (H11(), "GET / X-Key: Sun, 06 Nov 1994 08:49:37 GMT"),
    (H12(), "GET / X-Key: v"), (H13(), "GET / X-Key: v"),
    (I1(headers: ["X-Key": "v"]), "GET / X-Key: v"), (I1(headers: nil), "GET /"),
    (I2(headers: ["X-Key": "v"]), "GET / X-Key: v"), (I2(headers: nil), "GET /"),
    (I3(headers: ["X-Key": "v"]), "GET / X-Key: v"), (I3(headers: nil), "GET /"),
    (I4(headers: [("X-Key", "v")]), "GET / X-Key: v"), (I4(headers: nil), "GET /"),
    (I5(headers: [("X-Key", "v")]), "GET / X-Key: v"), (I5(headers: nil), "GET /"),
    (I6(headers: ["X-Key": "v"]), "GET / X-Key: v"), (I6(headers: nil), "GET /"),
    (I7(headers: ["X-Key": "v"]), "GET / X-Key: v"), (I7(headers: nil), "GET /"),
    (I8(headers: Fields()), "GET / X-Key: v"), (I8(headers: nil), "GET /"),
    (B1(), #"POST / {"a":1}"#), (B2(uploadPayload: ["a": 1]), #"POST / {"a":1}"#), (B2(uploadPayload: nil), "GET /"),
    (B3(), "POST / a=b+c"), (B4(), "POST / a=1"), (B5(encoder: FormEncoder()), "POST / a=1"),
    (B5(encoder: nil), #"POST / {"a":1}"#), (B6(), "PUT / a"), (B7(), #"POST / {"a":1}"#),
    (B8(parameters: ["a": 1]), "GET /?a=1"), (B8(parameters: nil), "GET /"), (B9(uploadPayload: "a"), "POST / a"),
    (B9(uploadPayload: nil), "POST /"), (M1(), "PATCH /"), (M2(), "DELETE /"),
  ]

  // MARK: Takes effect without being visible to the server

  private struct T1: ServerTask { let timeout: Duration = .seconds(3) }
  private struct T2: ServerTask { let timeout: Duration? }
  private struct D1: ServerTask { let decoder = PropertyListDecoder() }
  private struct D2: ServerTask { let decoder: (any PayloadDecoder)? }
  private struct L1: ServerTask { let payloadPath = "data" }
  private struct L2: ServerTask { let payloadPath = ["data", "items"] }
  private struct L3: ServerTask { let payloadPath: String? }
  private struct L4: ServerTask { let payloadPath: [String]? }

  private struct Z1: ServerTask { let gzipUploadThreshold = 10 }
  private struct Z2: ServerTask { let gzipUploadThreshold: Int? }
  private struct Z3: GZipUploadingTask {}
  private struct Z4: GZipUploadingTask { let gzipUploadThreshold = 10 }
  private struct Z5: FormUploadingTask, GZipUploadingTask { let uploadPayload = ["a": 1] }

  static let planned: [(any ServerTask, @Sendable (TaskPlan) -> Bool)] = [
    (T1(), { $0.timeout == .seconds(3) }), (T2(timeout: .seconds(3)), { $0.timeout == .seconds(3) }),
    (T2(timeout: nil), { $0.timeout == .inherited }), (D1(), { $0.decoder is PropertyListDecoder }),
    (D2(decoder: JSONDecoder()), { $0.decoder is JSONDecoder }),
    (D2(decoder: nil), { type(of: $0.decoder) == type(of: P1().plan.decoder) }),
    (L1(), { $0.payloadPath == ["data"] }), (L2(), { $0.payloadPath == ["data", "items"] }),
    (L3(payloadPath: "data"), { $0.payloadPath == ["data"] }), (L3(payloadPath: nil), { $0.payloadPath == .inherited }),
    (Z1(), { $0.gzipUploadThreshold == 10 }), (Z2(gzipUploadThreshold: 10), { $0.gzipUploadThreshold == 10 }),
    (Z2(gzipUploadThreshold: nil), { $0.gzipUploadThreshold == nil }), (Z3(), { $0.gzipUploadThreshold == 0 }),
    (Z4(), { $0.gzipUploadThreshold == 10 }),
    (Z5(), { $0.gzipUploadThreshold == 0 && $0.encoder is FormEncoder }),
    (P1(), { $0.gzipUploadThreshold == nil }),
    (L4(payloadPath: ["a"]), { $0.payloadPath == ["a"] }), (L4(payloadPath: nil), { $0.payloadPath == .inherited }),
  ]

  // MARK: Fails the call

  private struct F1: ServerTask { let path = ["a", ".."] }
  private struct F2: ServerTask { let path = ["a", ""] }
  private struct F3: ServerTask { let query = ["a", "b"] }
  private struct F4: ServerTask { let query = "q=1" }
  private struct F5: ServerTask { let headers = "X-Key: v" }
  private struct F6: ServerTask { let headers = ["X-Key": "a\r\nX-Other: b"] }
  private struct F7: ServerTask { let headers = ["X-Key": "a\rb"] }
  private struct F8: ServerTask { let headers = [("X-Key\n", "a")] }
  private struct F9: ServerTask { let headers = ["X-Key": ["a", "b\0"]] }
  private struct F10: ServerTask { let headers = ["X-Key": Duration.seconds(5)] }
  private struct F11: ServerTask { let headers = ["X-Key": Date(timeIntervalSince1970: .nan)] }

  static let failing: [(any ServerTask, String)] = [
    (F1(), "a different path"), (F2(), "is empty"), (F3(), "no names"), (F4(), "no name"), (F5(), "no name"),
    (F6(), "a line break or a NUL"), (F7(), "a line break or a NUL"), (F8(), "an invalid name"),
    (F9(), "a line break or a NUL"), (F10(), "a number of seconds"), (F11(), "between 1 and 9999"),
  ]

  // MARK: Reported

  private struct W1: ServerTask { let priority = 3 }
  private struct W2: ServerTask { let httpMethod = "PATCH" }
  private struct W3: ServerTask { let httpMethod: HTTPMethod? = .patch }
  private struct W4: ServerTask { let acceptedStatuses = 200...299 }
  private struct W5: ServerTask { let taskTag: String? = nil }
  private struct W6: ServerTask { let retryPolicy: RetryPolicy? = nil }
  private struct W7: ServerTask { let idempotency = true }
  private struct W8: ServerTask { let url = "https://shop.test" }
  private struct W9: ServerTask { let url: URL? = nil }
  private struct W10: ServerTask { let paht = "x" }
  private struct W11: ServerTask { let pathh: [String]? = nil }
  private struct W12: ServerTask { let header = ["a": "b"] }
  private struct W13: ServerTask { let header: [String: String]? = nil }
  private struct W14: ServerTask { let header: KeyValuePairs = ["a": "b"] }
  private struct W15: ServerTask { let querry: [String: String] = [:] }
  private struct W16: ServerTask { let qery: [URLQueryItem]? = nil }
  private struct W17: ServerTask { let timeot: Duration? = .seconds(1) }
  private struct W18: ServerTask { let parameter: [String: Int]? = nil }
  private struct W19: ServerTask { let encodr = JSONEncoder() }
  private struct W20: ServerTask { lazy var headers = ["a": "b"] }
  private struct W21: ServerTask { let redirectPolicy = false }
  private struct W22: ServerTask { let authentication = "Bearer x" }
  private struct W23: ServerTask { let cachePolicys: CachePolicy? = .standard }
  private struct W24: ServerTask { let uploadPayload = ["a": 1] }
  private struct W25: ServerTask { let uploadForm = MultipartForm() }
  private struct W26: DataUploadingTask {
    let uploadData = Data()
    let uploadType = "image/png"
  }
  private struct W29: ServerTask { let qurey = ["a": 1] }
  private struct W30: ServerTask { let qurey = ["a": ["b"]] }
  private struct W31: ServerTask { let qurey: Fields? = nil }
  private struct W32: ServerTask { let parametrs = ["a": JSONValue.null] }
  private struct W33: ServerTask { let parametrs = Fields() }
  private struct W34: ServerTask { let timeot = 5 }
  private struct W35: ServerTask { let timeot: TimeInterval? = 5 }
  private struct W36: DataUploadingTask {
    let uploadData = Data("a".utf8)
    let uploadTyp: MediaType = "image/png"
  }
  private struct W37: ServerTask { let payloadPth = "data" }
  private struct W38: ServerTask { let payloadPaths = ["data"] }
  private struct W39: ServerTask { let ulr = URL(string: "https://shop.test") }
  private struct W40: ServerTask { let priorty = 3 }
  private struct W41: ServerTask { let retryPolcy: RetryPolicy? = nil }
  private struct W42: ServerTask { let gzipUploadTreshold = 10 }
  private struct W43: ServerTask {
    let url: URL
    let query = ["a": "1"]
  }
  private struct N1: ServerPOSTTask { let body = ["a": 1] }
  private struct N2: ServerPUTTask { let payload = ["a": 1] }
  private struct N3: ServerPOSTTask { let form = ["a": "b"] }
  private struct N4: ServerPOSTTask { let params = ["a": 1] }
  private struct N5: ServerTask { let method = "PUT" }
  private struct N6: ServerGETTask { let queryItems = [URLQueryItem(name: "a", value: "b")] }
  private struct N7: ServerGETTask { let queryParameters = ["a": "b"] }
  private struct N8: ServerGETTask { let params = ["a": "b"] }
  private struct N9: ServerTask { let timeoutInterval = 5.0 }
  private struct N10: ServerTask { let retries = 3 }
  private struct N11: ServerTask { let httpHeaders = ["a": "b"] }
  private class Base: @unchecked Sendable { let priority = 3 }
  private final class W27: Base, ServerTask, @unchecked Sendable {}
  private class Above: ServerTask, @unchecked Sendable {}
  private final class W28: Above, @unchecked Sendable { let headers = ["a": "b"] }

  /// The property named in the warning.
  static let reported: [(any ServerTask, String)] = [
    (W1(), "priority"), (W2(), "httpMethod"), (W3(), "httpMethod"), (W4(), "acceptedStatuses"), (W5(), "taskTag"),
    (W6(), "retryPolicy"), (W7(), "idempotency"), (W8(), "url"), (W9(), "url"), (W10(), "path"), (W11(), "path"),
    (W12(), "headers"), (W13(), "headers"), (W14(), "headers"), (W15(), "query"), (W16(), "query"), (W17(), "timeout"),
    (W18(), "parameters"), (W19(), "encoder"), (W20(), "headers"), (W21(), "redirectPolicy"),
    (W22(), "authentication"), (W23(), "cachePolicy"), (W24(), "PayloadUploadingTask"),
    (W25(), "MultipartUploadingTask"), (W26(), "uploadType"), (W27(), "priority"), (W28(), "headers"), (W29(), "query"),
    (W30(), "query"),
    (W31(), "query"), (W32(), "parameters"), (W33(), "parameters"), (W34(), "timeout"), (W35(), "timeout"),
    (W36(), "uploadType"), (W37(), "payloadPath"), (W38(), "payloadPath"), (W39(), "url"), (W40(), "priority"),
    (W41(), "retryPolicy"), (W42(), "gzipUploadThreshold"),
    (W43(url: URL(string: "https://shop.test") ?? URL(fileURLWithPath: "/")), "query"),
    (N1(), "uploadPayload"), (N2(), "uploadPayload"), (N3(), "FormUploadingTask"), (N4(), "parameters"),
    (N5(), "httpMethod"), (N6(), "query"), (N7(), "query"), (N8(), "parameters"), (N9(), "timeout"),
    (N10(), "retryPolicy"), (N11(), "headers"),
  ]

  // MARK: Does not compile

  /// The bodies of tasks, and words in their compiler errors.
  static let refused: [(body: String, words: String)] = [
    ("let path = 5", "a path must be a String or an array of segments ([String])"),
    ("let path: String? = nil", "a path must be a String"),
    ("let path: [String]? = nil", "a path must be a String"),
    ("let path = URL(fileURLWithPath: \"/a\")", "a path must be a String"),
    ("let path: Substring = \"a\"", "a path must be a String"),
    ("struct Odd: Sendable {}; let query = Odd()", "a query must be an HTTPQuery, a dictionary"),
    ("let query = (\"a\", \"b\")", "a query must be an HTTPQuery"),
    ("let query = [(\"a\", 1)]", "a query must be an HTTPQuery"),
    ("struct Odd: Sendable {}; let headers = Odd()", "headers must be HTTPHeaders, a dictionary"),
    ("let headers = [(\"a\", 1)]", "headers must be HTTPHeaders"),
    ("let timeout = 5", "a timeout must be a Duration, such as .seconds(5)"),
    ("let timeout = 5.0", "a timeout must be a Duration"),
    ("let timeout: TimeInterval? = nil", "a timeout must be a Duration"),
    ("let encoder = 5", "an encoder must be a BodyEncoder"),
    ("let encoder = JSONDecoder()", "an encoder must be a BodyEncoder"),
    ("let encoder: FormEncoder? = nil", "an encoder must be a BodyEncoder"),
    ("let decoder = JSONEncoder()", "a decoder must be a PayloadDecoder"),
    ("let payloadPath = 5", "a payload path must be a String (one key)"),
    ("let gzipUploadThreshold = \"10\"", "gzipUploadThreshold must be an Int (a number of bytes)"),
    ("let gzipUploadThreshold = 1e3", "gzipUploadThreshold must be an Int (a number of bytes)"),
    ("struct Odd: Sendable {}; let parameters = Odd()", "parameters must be a dictionary or an Encodable value"),
    ("let parameters = [(\"a\", \"b\")]", "parameters must be a dictionary or an Encodable value"),
    ("struct Odd: Sendable {}; typealias ErrorPayload = Odd", "does not conform to protocol 'ServerTask'"),
    ("}; struct Bytes: DataUploadingTask { let uploadData: Data? = nil", "does not conform"),
    ("}; struct File: FileUploadingTask { let uploadFile: URL? = nil", "does not conform"),
    ("}; struct Both: ServerGETTask, ServerPOSTTask {", "a task has only one method: remove GET or POST"),
    ("}; struct Both: ServerPATCHTask, ServerPUTTask {", "a task has only one method: remove PUT or PATCH"),
    ("}; struct Both: GET<Int>, DELETE<Int> {", "a task has only one method: remove GET or DELETE"),
    ("}; struct Odd {}; struct Get: GET<Odd> {", "does not conform to protocol 'PayloadDownloadingTask'"),
    ("}; struct Post: POST<Int, Int> {", "does not conform to protocol 'PayloadUploadingTask'"),
    ("}; struct Post: POST<Int> {", "too few type parameters"),
    (
      "}; func send1(_ shop: Server) async throws { try await shop.send(.get(\"a\"))",
      "a GET needs the type of its payload"
    ),
    (
      "}; func send2(_ shop: Server) async throws { _ = try await shop.send(.get(\"a\"))",
      "a GET needs the type of its payload"
    ),
    ("}; let none: Endpoint<Void, Void> = .get(\"a\"); func none() {", "a GET needs the type of its payload"),
    ("}; func send3(_ shop: Server) async throws { try await shop.send(.query(\"a\", body: 1))", "error"),
    (
      "}; func send4(_ shop: Server) async throws { try await shop.send(.post(\"a\", body: 1)).count",
      "no member 'count'"
    ),
  ]

  /// A body that compiles, so that a missing library is not mistaken for a rejection.
  static let accepted = ["let path = [\"a\"]", "let timeout: Duration? = nil", "let decoder = JSONDecoder()"]
}

private protocol Keyed: ServerTask { var key: String { get } }

extension Keyed {
  fileprivate var headers: [String: String] { ["X-Key": key] }
}
