extension HTTPRequest {
  /// Sends the request, and sends it again as long as the proxy refuses the credential and the app has another one.
  ///
  /// - Parameters:
  ///   - ask: Runs the code of the app that gives another credential.
  ///   - send: Sends the request.
  /// - Returns: What `send` returns.
  /// - Throws: What `ask` and `send` throw; the refusal has the code `.proxyAuthenticationRequired`.
  func renewingProxyCredential<Response>(
    _ ask: (@escaping CredentialRenewal) async throws -> Credential? = { await $0() },
    _ send: (HTTPRequest) async throws -> Response
  ) async throws -> Response {
    var request = self
    while true {
      do {
        return try await send(request)
      } catch let error as TaskError where error.code == .proxyAuthenticationRequired {
        guard request.body.isReplayable, let renew = error.proxyRenewal, let credential = try await ask(renew) else {
          throw error
        }
        request.options.proxyCredential = credential
      }
    }
  }
}
