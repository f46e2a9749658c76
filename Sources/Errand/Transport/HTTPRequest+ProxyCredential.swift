extension HTTPRequest {
  /// Sends the request, and sends it again as long as the proxy refuses the credential and the app has another one.
  ///
  /// - Parameter send: Sends the request.
  /// - Returns: What `send` returns.
  /// - Throws: What `send` throws; the refusal has the code `.proxyAuthenticationRequired`.
  func renewingProxyCredential<Response>(
    _ send: (HTTPRequest) async throws -> Response
  ) async throws -> Response {
    var request = self
    while true {
      do {
        return try await send(request)
      } catch let error as TaskError where error.code == .proxyAuthenticationRequired {
        guard request.body.isReplayable, let renew = error.proxyRenewal, let credential = await renew() else {
          throw error
        }
        request.options.proxyCredential = credential
      }
    }
  }
}
