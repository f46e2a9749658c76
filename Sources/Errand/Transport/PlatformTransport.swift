import ErrandFoundation

/// The transport that suits the platform: libcurl on Linux, `URLSession` on Apple platforms.
///
/// On a Linux machine without libcurl 7.76 or newer every call fails with a ``TaskError`` of code
/// `.transportUnavailable`, which says what to install. Nothing else takes libcurl's place there unless the program says
/// so: the product `ErrandURLSession` has a transport over FoundationNetworking, to be given to a ``Server``.
///
/// Each one has its own connections. A copy shares them.
public struct PlatformTransport: Transport {
  /// The name of the carrier of the requests: `curl` or `URLSession`; `none` where there is none.
  public let name: String
  private let carrier: any Transport

  /// A transport with connections of its own.
  public init() { self = .best() }

  init(name: String, carrier: any Transport) {
    self.name = name
    self.carrier = carrier
  }

  /// True where the carrier does.
  public var checksAddresses: Bool { carrier.checksAddresses }

  /// Those of the carrier.
  public func connections() async -> [String: ConnectionCounts] { await carrier.connections() }

  /// Sends a request through the carrier.
  /// Throws ``TaskError``, and `CancellationError` when the surrounding task is cancelled.
  public func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await carrier.send(request) }
}

extension Transport where Self == PlatformTransport {
  /// The transport that suits the platform, with connections of its own.
  public static var platform: PlatformTransport { PlatformTransport() }
}

#if HAS_URLSESSION
  extension PlatformTransport {
    /// `URLSession`, which is always there.
    static func best() -> PlatformTransport {
      PlatformTransport(name: "URLSession", carrier: URLSessionTransport())
    }
  }
#else
  extension PlatformTransport {
    /// The transport of `make`, or else one that fails every call with the reason.
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

  /// The transport of a machine that has none.
  private struct MissingTransport: Transport {
    let reason: TaskError

    func send(_ request: HTTPRequest) async throws -> HTTPResponse { throw reason }
  }
#endif
