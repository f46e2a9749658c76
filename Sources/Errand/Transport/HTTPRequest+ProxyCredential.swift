extension HTTPRequest {
  /// Sends the request and resends it with a new credential when the proxy rejects the current one, up to twice.
  /// Throws `.proxyAuthenticationRequired` if `renewCredential` returns no other credential.
  func renewingProxyCredential<Response>(
    _ send: (HTTPRequest) async throws -> Response
  ) async throws -> Response {
    var request = self
    for _ in 0..<2 {
      do {
        return try await send(request)
      } catch let error as TaskError where error.code == .proxyAuthenticationRequired {
        guard request.body.isReplayable, let renew = error.proxyRenewal, let credential = await renew() else {
          throw error
        }
        request.options.proxyCredential = credential
      }
    }
    return try await send(request)
  }
}
