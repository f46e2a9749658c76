import ErrandFoundation

/// The platform's default transport: libcurl on Linux, `URLSession` on Apple platforms.
///
/// On Linux without libcurl 7.76 or newer, every call fails with a ``TaskError`` with code `.transportUnavailable` that
/// says what to install. Errand does not fall back to another transport. To use FoundationNetworking instead, pass the
/// transport from the product `ErrandURLSession` to a ``Server``.
///
/// Each instance has its own connections, which its copies share.
public struct PlatformTransport: Transport {
  /// The name of the underlying transport: `curl`, `URLSession`, or `none` if libcurl is unavailable.
  public let name: String
  private let carrier: any Transport

  /// Creates a transport with its own connections.
  public init() { self = .best() }

  init(name: String, carrier: any Transport) {
    self.name = name
    self.carrier = carrier
  }

  /// Whether the underlying transport checks addresses.
  public var checksAddresses: Bool { carrier.checksAddresses }

  /// Returns the number of the underlying transport's connections to each origin.
  public func connections() async -> [String: ConnectionCounts] { await carrier.connections() }

  /// Sends a request through the underlying transport.
  ///
  /// Throws ``TaskError``, or `CancellationError` if the surrounding task is cancelled.
  public func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await carrier.send(request) }
}

extension Transport where Self == PlatformTransport {
  /// A new instance of the platform's default transport, with its own connections.
  public static var platform: PlatformTransport { PlatformTransport() }
}

#if HAS_URLSESSION
  extension PlatformTransport {
    static func best() -> PlatformTransport {
      PlatformTransport(name: "URLSession", carrier: URLSessionTransport())
    }
  }
#else
  extension PlatformTransport {
    /// Returns the transport that `make` creates, or one that fails every call with the error that `make` throws.
    static func best(
      make: () throws(TaskError) -> any Transport = { () throws(TaskError) in try CurlTransport() }
    ) -> PlatformTransport {
      do {
        return PlatformTransport(name: "curl", carrier: try make())
      } catch {
        return PlatformTransport(name: "none", carrier: MissingTransport(reason: error))
      }
    }
  }

  private struct MissingTransport: Transport {
    let reason: TaskError

    func send(_ request: HTTPRequest) async throws -> HTTPResponse { throw reason }
  }
#endif
