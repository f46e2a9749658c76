/// The policy for redirects: responses with status 301, 302, 303, 307 or 308 and a `Location`.
///
///     await shop.update { $0.redirectPolicy = .sameOrigin }
///     let response = try await GetWidget(id: 7).redirects(.refuse).accepting(.all).run()
///
/// A redirect that is not followed becomes the call's response, and the call fails unless its status is accepted. The
/// call also fails if a redirect is unsafe: from https to http, in a loop, or with a body that can only be read once.
public struct RedirectPolicy: Sendable {
  /// Decides whether to follow a redirect.
  ///
  /// - Parameters:
  ///   - response: The redirect, without its body.
  ///   - next: The request to send if the redirect is followed.
  /// - Returns: The request to send, or `nil` to return the redirect as the response.
  public typealias Decision = @Sendable (_ response: HTTPResponse, _ next: HTTPRequest) async throws -> HTTPRequest?

  enum Kind {
    case inherited, follow, refuse, sameOrigin, decide
  }

  /// The maximum number of redirects per attempt. If it is exceeded, the call fails.
  public let maximum: Int
  let kind: Kind
  let decision: Decision?

  private init(_ kind: Kind, _ maximum: Int = RedirectPolicy.usualMaximum, _ decision: Decision? = nil) {
    self.kind = kind
    self.maximum = max(0, maximum)
    self.decision = decision
  }

  var isInherited: Bool { kind == .inherited }

  /// The reason why redirects are not followed. `nil` if all are followed.
  var refusal: String? {
    switch kind {
    case .inherited, .follow: nil
    case .refuse: "redirectPolicy is .refuse"
    case .sameOrigin: "it leaves the origin, but redirectPolicy is .sameOrigin"
    case .decide: "redirectPolicy rejected it"
    }
  }

  static let usualMaximum = 20

  /// The server's policy.
  public static let inherited = RedirectPolicy(.inherited)

  /// Follows up to 20 redirects.
  public static let follow = RedirectPolicy(.follow)

  /// Follows up to `maximum` redirects.
  public static func follow(maximum: Int) -> RedirectPolicy { RedirectPolicy(.follow, maximum) }

  /// Doesn't follow redirects: a redirect becomes the response.
  public static let refuse = RedirectPolicy(.refuse)

  /// Follows up to 20 redirects to the request's origin. A redirect to another origin becomes the response.
  public static let sameOrigin = RedirectPolicy(.sameOrigin)

  /// Calls `decision` for each redirect, up to `maximum` times.
  ///
  /// The closure receives the next request, without credentials if the origin changes. It returns that request, a
  /// modified request, or `nil` to return the redirect as the response. An error thrown by the closure fails the call.
  /// The closure can make calls: while it runs, the attempt doesn't hold a slot, and the time does not count against
  /// the attempt's limit.
  public static func decide(maximum: Int = 20, _ decision: @escaping Decision) -> RedirectPolicy {
    RedirectPolicy(.decide, maximum, decision)
  }
}
