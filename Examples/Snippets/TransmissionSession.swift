import Errand

/// Sends the session identifier from transmission's 409 responses.
struct TransmissionSession: Authenticator {
  func apply(_ token: String, to request: inout HTTPRequest) {
    request.headers["X-Transmission-Session-Id"] = token
  }

  func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
    response?.headers["X-Transmission-Session-Id"]
  }

  func isAuthenticationFailure(_ response: HTTPResponse) -> Bool { response.status == .conflict }
}

func transmission(_ daemon: Server, password: String) async {
  await daemon.update {
    $0.authentication = .all([.basic(user: "ann", password: password), .custom(TransmissionSession())])
  }
}
