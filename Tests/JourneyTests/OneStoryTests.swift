import Errand
import ErrandInspection
import ErrandTesting
import Foundation
import Testing

/// A call with a stale stored response, two retries, an expired token and redirects. All its outputs must agree.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct OneStoryTests {
  /// A shop that redirects and rejects requests, and whose messages contain many secrets.
  private struct BouncingShop {
    let mock: MockServer
    let secrets: [String]
    /// The number of widget requests that fail.
    let count = Shared<Int?>(nil)

    init() throws {
      let mock = try MockServer()
      let secrets = (0..<40).map { "planted\($0)x" }
      (self.mock, self.secrets) = (mock, secrets)
      let (count, tokens, target) = (count, Shared(0), Shared(""))
      mock.route(.post, "/token") { _ in
        let number = tokens.withLock { tokens in
          tokens += 1
          return tokens
        }
        return .json(
          #"{"access_token":"\#(secrets[number])","token_type":"Bearer","refresh_token":"\#(secrets[4])","expires_in":3600}"#
        )
      }
      mock.route("/widgets/7") { request in
        let number = count.withLock { count in
          count = count.map { $0 + 1 }
          return count
        }
        switch number {
        case nil:
          return MockAnswer.json(#"{"id":7,"name":"Sprocket","api_key":"\#(secrets[5])"}"#)
            .header("ETag", "\"v1\"").header("Cache-Control", "no-cache").header("Set-Cookie", "sid=\(secrets[6])")
        case 1, 2: return Self.unavailable(secrets)
        case 3: return Self.refused(secrets)
        case 4:
          target.withLock { $0 = request.target }
          return .status(
            302,
            headers: [
              "Location": "/bounce?token=\(secrets[7])", "Set-Cookie": "sid=\(secrets[6])", "X-Auth-Token": secrets[8],
            ])
        default:
          guard request.headers["If-None-Match"] == nil else { return .status(418) }
          return .json(#"{"id":7,"name":"Sprocket","api_key":"\#(secrets[5])"}"#).header("X-Session-Token", secrets[9])
        }
      }
      // Redirects back to the origin of the call, like a consent page.
      mock.route("/bounce") { _ in
        .status(302, headers: ["Location": target.withLock { $0 }, "X-Refresh-Token": secrets[10]])
      }
    }

    private static func unavailable(_ secrets: [String]) -> MockAnswer {
      .status(
        503, headers: ["Content-Type": "application/json", "X-Api-Key": secrets[11], "X-Client-Secret": secrets[12]],
        body:
          #"{"password":"\#(secrets[13])","a":{"clientSecret":["\#(secrets[14])"]},"next":"https://x:\#(secrets[15])@b.test/?sig=\#(secrets[16])"}"#
      )
    }

    private static func refused(_ secrets: [String]) -> MockAnswer {
      .status(
        401,
        headers: [
          "WWW-Authenticate": "Bearer realm=\"shop\", token=\"\(secrets[17])\"", "Private-Token": secrets[18],
          "Content-Type": "application/x-www-form-urlencoded",
        ], body: "user=a&newPassword=\(secrets[19])")
    }

    func server(_ recorders: [any CallRecorder], log: LogOutput, observers: [any TaskObserver]) -> Server {
      var configuration = ServerConfiguration()
      configuration.cache = MemoryCache()
      (configuration.recorders, configuration.observers, configuration.log) = (recorders, observers, log)
      (configuration.logStyle, configuration.logOptions, configuration.echoesTasks) = (.steps, .full, true)
      configuration.retryPolicy = .fixed(retries: 3, delay: .milliseconds(1))
      configuration.authentication = .oauth2(
        OAuth2(
          tokenURL: mock.url.appendingPathComponent("token"), client: .init(id: "app", secret: secrets[0]),
          grant: .clientCredentials))
      return Server(Remote(mock.url), configuration: configuration, environment: [:])
    }

    /// The task, with secrets in its query and headers.
    var task: Endpoint<Void, Widget> {
      let names = [
        "X-Goog-Api-Key", "X-Amz-Signature", "X-Amz-Security-Token", "X-CSRF-Token", "X-Auth-Key",
        "X-Password",
        "X-Passphrase", "X-Subscription-Key", "X-Functions-Key", "X-Signing-Key",
      ]
      let items = [
        "key", "sig", "code", "assertion", "auth", "pwd", "jwt", "otp", "hmac", "session_id",
      ]
      var headers = HTTPHeaders()
      for (name, secret) in zip(names, secrets[20...]) { headers.add(secret, for: HTTPHeaderName(name)) }
      let query = HTTPQuery(zip(items, secrets[30...]).map { .init($0, $1) })
      return .get("widgets/7", query: query, defaults: EndpointDefaults(headers: headers))
    }
  }

  @Test func `all outputs agree with each other and contain no secrets`() async throws {
    try await withFolder { folder in
      let (shop, calls, events) = (try BouncingShop(), RecordedCalls(), EventRecorder())
      let (page, lines) = (try HTTPLog(in: folder), Shared<[String]>([]))
      let (spans, spanFile) = (Shared<[RecordedSpan]>([]), folder.appendingPathComponent("spans/spans.jsonl"))
      let recorder = SpanRecorder(to: .spans { batch in spans.withLock { $0 += batch } })
      let toFile = SpanRecorder(to: .file(spanFile))
      let server = shop.server(
        [calls, page], log: LogOutput { line in lines.withLock { $0.append(line) } },
        observers: [events, recorder, toFile])
      for _ in 0..<2 { _ = try await shop.task.on(server).download() }
      shop.count.withLock { $0 = 0 }
      let response = try await shop.task.on(server).response()
      #expect(response.payload == Widget() && response.attempts.count == 3)
      await page.finish()

      let call = try #require(calls.calls.last { $0.attemptCount == 3 })
      let story = response.record.description.split(separator: "\n").dropFirst().map {
        String($0).trimmingCharacters(in: .whitespaces)
      }
      let reported = ["503", "503", "401", "302", "302", "200"]
      #expect(Self.landmarks(story) == Self.expected, "\(story)")
      #expect(call.moments.map { "\($0.time.inWords)  \($0.text)" } == story)
      #expect(call.exchanges.map { "\($0.response?.status.code ?? 0)" } == reported)
      #expect(call.exchanges.map(\.attempt) == [1, 2, 3, 3, 3, 3])

      let name = try #require(try files(in: page.folder).filter { $0.hasSuffix(".txt") }.last)
      let text = try String(contentsOf: page.folder.appendingPathComponent(name), encoding: .utf8)
      #expect(
        text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.suffix(story.count + 1)
          .dropLast() == story[...])
      #expect(Self.statuses(in: text) == reported)

      let shown = try Self.lastCall(of: String(contentsOf: page.page, encoding: .utf8))
      let moments = (shown["timeline"] as? String ?? "").split(separator: "\n")
      #expect(moments.map { $0.trimmingCharacters(in: .whitespaces) } == story)
      let exchanges = shown["exchanges"] as? [[String: Any]] ?? []
      #expect(exchanges.map { ($0["response"] as? String ?? "").prefix(3) } == reported.map { $0[...] })

      let entries = HTTPArchive([call]).entries
      #expect(entries.map { "\($0.response.status)" } == reported && entries.last?.timeline == story)
      #expect(entries.map(\.attempt) == [1, 2, 3, 3, 3, 3])

      // Observers receive more events than a record keeps.
      let observed = events.events.filter { $0.call == call.id }.map(\.moment)
      let further: Set = ["requested", "nameResolved", "connected", "requestSent"]
      #expect(observed.filter { !further.contains($0.kind) }.map(\.description) == call.moments.map(\.text))
      #expect(observed.count(where: { $0.kind == "requested" }) == reported.count)
      for recorder in [recorder, toFile] { await recorder.flush() }
      try Self.expectStory(of: call, in: spans.withLock { $0 })

      var outputs =
        try [String(contentsOf: spanFile, encoding: .utf8)] + spans.withLock { $0 }.map { "\($0)" }
      outputs +=
        lines.withLock { $0 } + [response.record.summary, response.record.description, "\(response.response)"]
      outputs += events.moments().map { "\($0)" }
      outputs += try calls.calls.map { "\($0) \(String(decoding: try JSONEncoder().encode($0), as: UTF8.self))" }
      outputs += calls.calls.flatMap { $0.exchanges.compactMap { $0.curlCommand() } }
      outputs.append(String(decoding: try calls.archive.data(), as: UTF8.self))
      for file in try files(in: page.folder) {
        outputs.append(try String(contentsOf: page.folder.appendingPathComponent(file), encoding: .utf8))
      }
      for output in outputs {
        let found = output.matches(of: /planted\d+x/).map { String($0.0) }
        #expect(found.isEmpty, "\(found) in \(output.prefix(3000))")
      }
      #expect(outputs.count > 60 && outputs.joined().contains("<redacted>"))
    }
  }

  /// Checks that the spans of the call and its attempts match the record in order and time.
  private static func expectStory(of call: RecordedCall, in spans: [RecordedSpan]) throws {
    let ends = call.moments.filter { $0.kind == "attemptEnded" }
    let whole = try #require(spans.last { $0.kind == .internal && $0.events.contains { $0.name == "refreshStarted" } })
    let attempts = spans.filter { $0.parent == whole.spanID && $0.kind == .client }.sorted { $0.start < $1.start }
    let statuses: [RecordedSpan.Value?] = [.number(503), .number(503), .number(200)]
    #expect(attempts.map { $0["http.response.status_code"] } == statuses && attempts.count == ends.count)
    #expect(attempts.map { $0["http.request.resend_count"] } == [nil, .number(1), .number(2)])
    #expect(Set(attempts.map(\.traceID)) == [whole.traceID])
    // The events and times of a span must match the record.
    func story(_ kinds: Set<String>) -> [String] { call.moments.filter { kinds.contains($0.kind) }.map(\.text) }
    let own: Set = [
      "delayStarted", "retryRefused", "refreshStarted", "refreshEnded", "cacheAnswered", "cacheMissed",
      "cacheValidated",
      "queued",
    ]
    #expect(whole.events.map(\.text) == story(own), "\(whole.events)")
    let redirects = attempts.last?.events.filter { $0.name == "redirected" }.map(\.text)
    #expect(redirects == story(["redirected"]) && redirects?.count == 2)
    for (moment, span) in zip(ends, attempts) {
      let end = Double(span.end - whole.start) / 1e9
      #expect(abs(end - moment.time.inWholeSeconds) < 0.001, "\(moment) \(end)")
    }
    #expect(zip(attempts, attempts.dropFirst()).allSatisfy { $0.end <= $1.start } && whole.failure == nil)
  }

  /// The steps of the story in order.
  private static let expected = [
    "stored response is not fresh", "503", "retry", "503", "retry", "401", "token", "302", "redirected", "302",
    "redirected", "decoded", "succeeded",
  ]

  /// Returns the steps found in the lines, in order.
  private static func landmarks(_ lines: [String]) -> [String] {
    let marks: [(String, String)] = [
      ("not served from the cache", "stored response is not fresh"), ("  503 ", "503"), ("to retry", "retry"),
      ("  401 ", "401"),
      ("waiting for a new token", "token"), ("  302 ", "302"), ("redirected to", "redirected"), ("decoded", "decoded"),
      ("call succeeded", "succeeded"),
    ]
    return lines.compactMap { line in marks.first { line.contains($0.0) }?.1 }
  }

  /// Returns the statuses in a text file, in order.
  private static func statuses(in text: String) -> [String] {
    text.split(separator: "\n").compactMap { $0.firstMatch(of: /^(\d{3}) [A-Z]/).map { String($0.1) } }
  }

  /// Returns the last call on a page.
  private static func lastCall(of page: String) throws -> [String: Any] {
    let block = try #require(
      page.components(separatedBy: "class=\"call\">").last?.components(separatedBy: "</script>").first)
    let entry = try #require(try JSONSerialization.jsonObject(with: Data(block.utf8)) as? [String: Any])
    return try #require(entry["call"] as? [String: Any])
  }
}

extension Duration {
  fileprivate var inWholeSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }

  /// The duration, formatted as in a record.
  fileprivate var inWords: String {
    let milliseconds = Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
    let fraction = "\(milliseconds % 1000)"
    return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction) s"
  }
}
