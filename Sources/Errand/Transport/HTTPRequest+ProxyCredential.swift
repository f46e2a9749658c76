extension HTTPRequest {
  /// Sends the request, and resends it with a new credential each time the proxy rejects the current one. If there is
  /// no new credential, the error has the code `.proxyAuthenticationRequired`.
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
