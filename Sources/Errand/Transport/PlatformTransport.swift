/// Placeholder while the transports are being written.
public struct PlatformTransport: Transport {
  private let transport = try? CurlTransport()
  /// Sends.
  public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    guard let transport else { throw TaskError(.transportUnavailable, "none", phase: .preparing) }
    return try await transport.send(request)
  }
}
extension Transport where Self == PlatformTransport {
  /// Platform.
  public static var platform: PlatformTransport { PlatformTransport() }
}
