import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// The device authorization grant (RFC 8628).
@Suite(.timeLimit(.minutes(1))) struct DeviceSignInTests {
  private static let deviceURL = URL.known("https://auth.test/device")

  private let answers = Shared<[(HTTPStatus, String)]>([])
  private let times = Shared<[Duration]>([])
  private let prompts = Shared<[OAuth2.DevicePrompt]>([])
  private let forms = Shared<[[String: String]]>([])

  private func shop(_ members: String = #","interval":3"#) -> VirtualShop {
    let settings = OAuth2(
      tokenURL: TokenService.url, client: .init(id: "app"),
      grant: .deviceCode(at: Self.deviceURL) { [prompts] prompt in prompts.withLock { $0.append(prompt) } })
    let code =
      #"{"device_code":"d","user_code":"WDJB-MJHT","verification_uri":"https://auth.test/go","expires_in":60\#(members)}"#
    return VirtualShop(
      .autoAdvancing,
      configure: {
        $0.authentication = .oauth2(settings)
        $0.retryPolicy = .never
      },
      answer: { [answers, times, forms] _, request, clock in
        if request.url == Self.deviceURL { return .json(code, for: request) }
        guard request.url == TokenService.url else { return .ok(request) }
        times.withLock { $0.append(clock.now.offset) }
        forms.withLock { $0.append(TokenService.form(request.body.data ?? Data())) }
        let next = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        guard let (status, body) = next else { throw TaskError(.connectionLost, "lost", phase: .awaitingResponse) }
        return .json(body, status: status, for: request)
      })
  }

  private func answer(_ bodies: String...) {
    answers.withLock { answers in
      answers = bodies.map { ($0.contains("access_token") ? .ok : .badRequest, $0) }
    }
  }

  private static let pending = #"{"error":"authorization_pending"}"#
  private static let slow = #"{"error":"slow_down"}"#
  private static let token = #"{"access_token":"t","token_type":"bearer"}"#

  @Test func `shows the code, polls at the server's interval and slows down after slow_down (§3.5)`() async throws {
    answer(Self.pending, Self.slow, Self.pending, Self.token)
    let shop = shop()
    try await shop.task().run()
    #expect(times.withLock { $0 } == [3, 6, 14, 22].map { .seconds($0) })
    let prompt = try #require(prompts.withLock { $0 }.first)
    #expect(prompt.userCode == "WDJB-MJHT" && prompt.verificationURL == .known("https://auth.test/go"))
    #expect(prompt.lifetime == .seconds(60) && prompt.completeURL == nil)
    let form = forms.withLock { $0[0] }
    #expect(form["grant_type"] == "urn:ietf:params:oauth:grant-type:device_code")
    #expect(form["device_code"] == "d" && form["client_id"] == "app")
  }

  @Test func `polls after five seconds by default (§3.2) and backs off on connection errors (§3.5)`() async throws {
    let shop = shop("")
    let error = await taskError { try await shop.task().run() }
    #expect(error?.code == .signInRequired)
    #expect(times.withLock { $0 } == [5, 15, 35].map { .seconds($0) }, "the next poll would be after the code expires")
  }

  @Test func `stops polling when the user denies access`() async throws {
    answer(Self.pending, #"{"error":"access_denied"}"#)
    let error = await taskError { try await shop().task().run() }
    #expect(error?.code == .authenticationFailed && error?.reason.contains("access_denied") == true)
    #expect(times.withLock { $0.count } == 2)
  }

  @Test func `stops polling when the code expires`() async throws {
    answers.withLock { $0 = Array(repeating: (.badRequest, Self.pending), count: 100) }
    let error = await taskError { try await shop().task().run() }
    #expect(error?.code == .signInRequired && times.withLock { $0.count } == 20)
  }

  @Test func `keeps polling while the server is busy`() async throws {
    answers.withLock { $0 = [(.serviceUnavailable, "<html>"), (429, ""), (.ok, Self.token)] }
    try await shop().task().run()
    #expect(times.withLock { $0 } == [3, 9, 21].map { .seconds($0) })
  }

  @Test func `accepts authorization_pending and slow_down with status 200`() async throws {
    answers.withLock { $0 = [(.ok, Self.pending), (.ok, Self.slow), (.ok, Self.token)] }
    try await shop().task().run()
    #expect(times.withLock { $0 } == [3, 6, 14].map { .seconds($0) })
  }
}
