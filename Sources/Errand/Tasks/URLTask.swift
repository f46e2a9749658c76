public import Foundation

/// A URL to fetch without declaring anything: `try await URLTask(url).download()`.
///
/// It runs on ``Server/default`` unless told otherwise, with its settings but without its remote.
public struct URLTask: PayloadDownloadingTask, UploadingTask {
  /// The body as it comes.
  public typealias DownloadPayload = Data

  /// The URL.
  public let url: URL
  /// The method; `.automatic` unless given.
  public let httpMethod: HTTPMethod
  /// Header fields that go before those of the server.
  public let headers: HTTPHeaders
  private let body: HTTPBody

  /// A task for a URL.
  public init(_ url: URL, method: HTTPMethod = .automatic, headers: HTTPHeaders = [:], body: HTTPBody = .empty) {
    self.url = url
    httpMethod = method
    self.headers = headers
    self.body = body
  }

  /// The body that was given.
  public func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { body }
}

extension URLTask: CustomStringConvertible {
  /// Method and URL, secrets hidden.
  public var description: String { "URLTask(\(httpMethod) \(Redaction.standard(url)))" }
}
