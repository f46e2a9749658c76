public import Errand
public import HTTPTypes

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension HTTPTypes.HTTPResponse {
  /// Creates the head of a response for HTTPTypes, with the standard reason phrase.
  ///
  /// The URL, HTTP version, redirects and body are dropped.
  ///
  /// - Throws: ``TaskError`` with code `.badResponse` if the status does not have three digits, or a field is invalid.
  public init(_ response: Errand.HTTPResponse) throws(TaskError) {
    guard (100...999).contains(response.status.code) else {
      throw TaskError(.badResponse, "HTTPTypes can't represent the status \(response.status.code)")
    }
    self.init(
      status: Status(code: response.status.code, reasonPhrase: response.status.phrase),
      headerFields: try HTTPFields(response.headers, or: .badResponse))
  }
}

extension Errand.HTTPResponse {
  /// Creates a response with a head from HTTPTypes.
  ///
  /// The reason phrase and the fields' indexing strategies are dropped. The HTTP version is unknown.
  ///
  /// - Parameters:
  ///   - response: The head.
  ///   - url: The response's URL, which the head does not contain.
  ///   - body: The body.
  /// - Throws: ``TaskError`` with code `.badResponse` if a field's value is not UTF-8.
  public init(
    _ response: HTTPTypes.HTTPResponse, url: URL, body: HTTPResponseBody = HTTPResponseBody()
  ) throws(TaskError) {
    self.init(
      HTTPStatus(response.status.code), url: url, headers: try HTTPHeaders(response.headerFields, or: .badResponse),
      body: body)
  }
}
