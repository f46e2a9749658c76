/// The rule for responses that point elsewhere: 301, 302, 303, 307 and 308 with a `Location`.
///
///     await shop.update { $0.redirectPolicy = .sameOrigin }
///     let response = try await GetWidget(id: 7).redirects(.refuse).accepting(.all).run()
///
/// A redirect that is not followed is the response, which fails the call unless its status is accepted. One that the policy would
/// follow, and that cannot be followed safely, fails the call: from https to http, in a loop, or with a body that comes once.
public struct RedirectPolicy: Sendable {
  /// Decides on one redirect.
  ///
  /// - Parameters:
  ///   - response: The response that points elsewhere, without its body.
  ///   - next: The request that would follow it.
  /// - Returns: The request to send, or nil where the response stands.
  public typealias Decision = @Sendable (_ response: HTTPResponse, _ next: HTTPRequest) async throws -> HTTPRequest?

  enum Kind {
    case inherited, follow, refuse, sameOrigin, decide
  }

  /// The most redirects that are followed in an attempt; one more fails the call.
  public let maximum: Int
  let kind: Kind
  let decision: Decision?

  private init(_ kind: Kind, _ maximum: Int = RedirectPolicy.usualMaximum, _ decision: Decision? = nil) {
    self.kind = kind
    self.maximum = max(0, maximum)
    self.decision = decision
  }

  /// The reason why it leaves a redirect standing, in words; nil where it follows all.
  var refusal: String? {
    switch kind {
    case .inherited, .follow: nil
    case .refuse: "redirectPolicy is .refuse"
    case .sameOrigin: "it leaves the origin, and redirectPolicy is .sameOrigin"
    case .decide: "redirectPolicy decides so"
    }
  }

  /// The maximum of browsers.
  static let usualMaximum = 20

  /// As the server says.
  public static let inherited = RedirectPolicy(.inherited)

  /// Follows up to 20 redirects.
  public static let follow = RedirectPolicy(.follow)

  /// Follows up to `maximum` redirects.
  public static func follow(maximum: Int) -> RedirectPolicy { RedirectPolicy(.follow, maximum) }

  /// Follows none: the response is the one that points elsewhere.
  public static let refuse = RedirectPolicy(.refuse)

  /// Follows up to 20 redirects that stay at the origin of the request; one that leaves it is the response.
  public static let sameOrigin = RedirectPolicy(.sameOrigin)

  /// Asks `decision` about each redirect, up to `maximum` times.
  ///
  /// It gets the next request as it would be sent, its credentials dropped where it leaves the origin, and returns it, a
  /// changed one, or nil, which lets the response stand. What it throws fails the call. It may make calls: the attempt holds no
  /// slot, and the time that the decision takes is not the attempt's.
  public static func decide(maximum: Int = 20, _ decision: @escaping Decision) -> RedirectPolicy {
    RedirectPolicy(.decide, maximum, decision)
  }
}
