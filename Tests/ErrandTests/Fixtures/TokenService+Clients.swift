import ErrandTesting
import Foundation

@testable import Errand

extension TokenService {
  /// Returns the settings of a client of the service.
  func settings(
    _ grant: OAuth2.Grant, secret: String? = "s3cret", placement: OAuth2.Client.Placement = .header,
    _ change: (inout OAuth2) -> Void = { _ in }
  ) -> OAuth2 {
    var settings = OAuth2(
      tokenURL: Self.url, client: .init(id: "app", secret: secret, placement: placement), grant: grant)
    change(&settings)
    return settings
  }

  /// Creates a shop that accepts the service's tokens.
  func shop(_ settings: OAuth2, log: LogOutput = .discard) -> VirtualShop {
    VirtualShop(
      configure: {
        $0.authentication = .oauth2(settings)
        $0.log = log
      }, answer: { [self] _, request, _ in answer(request) })
  }
}
