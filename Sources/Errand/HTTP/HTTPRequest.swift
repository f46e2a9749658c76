public import Foundation

/// A request as it is sent: method, absolute URL, header fields and body.
public struct HTTPRequest: Sendable {
  /// The method; never `.automatic` once a request is sent.
  public var method: HTTPMethod
  /// The absolute URL.
  public var url: URL
  /// The header fields, in the order in which they are sent.
  public var headers: HTTPHeaders
  /// The body.
  public var body: HTTPBody
  /// How a transport is to carry it.
  public var options: TransferOptions

  /// A request by its parts.
  public init(
    _ method: HTTPMethod = .get, _ url: URL, headers: HTTPHeaders = [:], body: HTTPBody = .empty,
    options: TransferOptions = TransferOptions()
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.options = options
  }
}
