public import Errand
public import HTTPTypes

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension HTTPTypes.HTTPResponse {
  /// The head of a response, as HTTPTypes has it, with the usual phrase of its status.
  ///
  /// The URL, the version of HTTP, the redirects and the body are left behind.
  ///
  /// - Throws: ``TaskError`` with code `.badResponse` for a status that does not have three digits, and a field that cannot be carried.
  public init(_ response: Errand.HTTPResponse) throws(TaskError) {
    guard (100...999).contains(response.status.code) else {
      throw TaskError(.badResponse, "HTTPTypes cannot carry the status \(response.status.code)")
    }
    self.init(
      status: Status(code: response.status.code, reasonPhrase: response.status.phrase),
      headerFields: try HTTPFields(response.headers, or: .badResponse))
  }
}

extension Errand.HTTPResponse {
  /// A response whose head is that of HTTPTypes.
  ///
  /// The phrase of the status and the indexing strategies of fields are left behind; the version of HTTP is unknown.
  ///
  /// - Parameters:
  ///   - response: The head.
  ///   - url: The URL that it came from, which the head does not say.
  ///   - body: The body.
  /// - Throws: ``TaskError`` with code `.badResponse` for a field whose value is not UTF-8.
  public init(
    _ response: HTTPTypes.HTTPResponse, url: URL, body: HTTPResponseBody = HTTPResponseBody()
  ) throws(TaskError) {
    self.init(
      HTTPStatus(response.status.code), url: url, headers: try HTTPHeaders(response.headerFields, or: .badResponse),
      body: body)
  }
}
