import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct RedactedTests {
  private struct Login: TaskPayload, Equatable {
    var user = "u"
    @Redacted var petsMaiden = "planted-redacted"
    @Redacted var lastSeen: Date? = Date(timeIntervalSince1970: 0)
    @Redacted var nothing: String?
  }

  private struct SignIn: ServerPOSTTask, PayloadUploadingTask, PayloadDownloadingTask {
    typealias DownloadPayload = Login
    var uploadPayload = Login()
    var path: String { "login" }
  }

  @Test func `Redacted encodes only its value with the encoder's strategies and omits nil`() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    encoder.dateEncodingStrategy = .iso8601
    let data = try encoder.encode(Login())
    #expect(
      String(decoding: data, as: UTF8.self)
        == #"{"lastSeen":"1970-01-01T00:00:00Z","petsMaiden":"planted-redacted","user":"u"}"#)
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    #expect(try decoder.decode(Login.self, from: data) == Login())
    #expect(try decoder.decode(Login.self, from: Data(#"{"user":"u","petsMaiden":"x"}"#.utf8)).lastSeen == nil)
  }

  @Test func `hides the value from descriptions, mirrors and dumps`() {
    var dumped = ""
    dump(Login(), to: &dumped)
    let texts = ["\(Login())", String(reflecting: Login()), dumped, "\(Redacted("planted-redacted"))"]
    for text in texts { #expect(!text.contains("planted-redacted") && text.contains("<redacted>"), "\(text)") }
  }

  @Test func `hides headers and form fields after learning their names`() throws {
    struct Answers: Encodable { @Redacted var cornerShop = "planted-redacted" }
    let name: HTTPHeaderName = "X-Corner-Shop"
    let redaction = Redaction.standard
    #expect(redaction([name: "a"])[name] == "a")
    _ = try JSONEncoder().encode(Answers())
    #expect(redaction([name: "a"])[name] == Redaction.mark)
    for item in ["login[cornerShop]", "login.cornerShop", "cornerShop[]", "cornerShop[0]"] {
      #expect(!redaction(address: "https://shop.test/?\(item)=planted-redacted").contains("planted"), "\(item)")
    }
  }

  /// Decodes all keys that a peer sends.
  private struct AnyNames: Decodable {
    struct Name: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Name.self)
      for name in container.allKeys { _ = try container.decode(Redacted<String>.self, forKey: name) }
    }
  }

  @Test func `learns a declared name but not the keys of a dictionary`() throws {
    struct Quiz: Codable { var quizAnswers: [String: Redacted<String>] }
    let quiz = try JSONDecoder().decode(Quiz.self, from: Data(#"{"quizAnswers":{"q17":"planted-redacted"}}"#.utf8))
    #expect(quiz.quizAnswers.count == 1)
    #expect(Redaction.standard.isSecret("quiz_answers") && !Redaction.standard.isSecret("q17"))
    let body = Data(#"{"quizAnswers":{"q17":"planted-redacted"},"q17":1}"#.utf8)
    #expect(
      Redaction.standard.body(body, type: .json, limit: 200) == #"{"quizAnswers":{"<redacted>":"<redacted>"},"q17":1}"#)
  }

  @Test func `limits the names learned from a peer, but not declared names`() throws {
    struct Late: Codable { @Redacted var lateAnswer = "planted-redacted" }
    let keys = (0..<1500).map { "\"peerskey\($0)\":\"a\"" }.joined(separator: ",")
    let values = try JSONDecoder().decode([String: Redacted<String>].self, from: Data("{\(keys)}".utf8))
    #expect(values.count == 1500)
    let lists = (0..<1500).map { "\"peerslist\($0)\":[\"a\"]" }.joined(separator: ",")
    _ = try JSONDecoder().decode([String: [Redacted<String>]].self, from: Data("{\(lists)}".utf8))
    let others = (0..<1500).map { "\"peersother\($0)\":\"a\"" }.joined(separator: ",")
    _ = try JSONDecoder().decode(AnyNames.self, from: Data("{\(others)}".utf8))
    let learned = ["peersKey", "peersList", "peersOther"].map { kind in
      (0..<1500).count { Redaction.standard.isSecret("\(kind)\($0)") }
    }
    #expect(learned[0] > 0 && learned.reduce(0, +) <= 1000, "\(learned)")
    _ = try JSONEncoder().encode(Late())
    #expect(Redaction.standard.isSecret("late_answer"))
  }

  private struct SharedQuestion: TaskPayload { @Redacted var sharedAnswer: String }
  private struct HookQuestion: TaskPayload { @Redacted var hookAnswer: String }

  private struct GetSharedQuestion: GET<SharedQuestion> { var path: String { "shared" } }
  private struct GetHookQuestion: GET<HookQuestion> {
    var path: String { "failing" }
    func postProcess(response: HTTPResponse) async throws { throw CancellationError() }
  }

  @Test func `hides a payload's values, even if the response is recorded before it is decoded`() async throws {
    let calls = RecordedCalls()
    let stub = StubServer(.json(#"{"sharedAnswer":"planted"}"#), .json(#"{"hookAnswer":"planted"}"#)) {
      $0.coalescesRequests = true
      $0.recorders = [calls]
    }
    _ = try await stub.server.send(GetSharedQuestion())
    _ = try? await stub.server.send(GetHookQuestion())
    let shown = calls.calls.map { "\($0)" }.joined()
    #expect(calls.calls.count >= 3 && shown.contains("sharedAnswer") && shown.contains("hookAnswer"))
    #expect(!shown.contains("planted"), "\(shown)")
  }

  private struct Wallet: TaskPayload {
    struct Card: TaskPayload { @Redacted var walletPan: String }
    let cards: [Card]
  }

  private struct GetWallet: GET<Wallet> { var path: String { "wallet" } }

  @Test func `hides a property that is missing from the first response`() async throws {
    let calls = RecordedCalls()
    let stub = StubServer(.json(#"{"cards":[]}"#), .json(#"{"cards":[{"walletPan":"planted"}]}"#)) {
      $0.coalescesRequests = true
      $0.recorders = [calls]
    }
    for _ in 0..<2 { _ = try await stub.server.send(GetWallet()) }
    let shown = calls.calls.map { "\($0)" }.joined()
    #expect(shown.contains("walletPan") && !shown.contains("planted"), "\(shown)")
  }
}
