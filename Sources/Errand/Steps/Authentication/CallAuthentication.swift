import ErrandFoundation

/// A call's authentication, with the tokens that were current when the call began. When the app forgets these tokens,
/// the call fails, because later tokens may belong to another account.
struct CallAuthentication: Sendable {
  /// The settings for a call that must use the same tokens.
  let settings: Authentication

  /// Returns the rules that authenticate requests for `url`, in order.
  func rules(for url: URL, isTrusted: (URL) -> Bool) -> [AuthenticationRule] {
    settings.form.rules(for: url, isTrusted)
  }

  /// Returns the account of a request. `nil` if the request is not authenticated.
  func account(of request: HTTPRequest, isTrusted: (URL) -> Bool) -> RequestAccount? {
    let rules = rules(for: request.url, isTrusted: isTrusted)
    return rules.isEmpty ? nil : RequestAccount(of: request, rules)
  }
}
