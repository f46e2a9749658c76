import Foundation

/// The transport that suits the platform: libcurl on Linux, `URLSession` on Apple platforms.
///
/// On Linux a machine without libcurl 7.85 or newer gets `URLSession` too, and a line on standard error that says why,
/// once per process: FoundationNetworking is no match for it (see ``URLSessionTransport``).
///
/// Each one has its own connections. A copy shares them.
public struct PlatformTransport: CancellableTransport {
  /// The name of the carrier of the requests: `curl` or `URLSession`.
  public let name: String
  private let carrier: any Transport
  private let cancellable: (any CancellableTransport)?

  /// A transport with connections of its own.
  public init() { self = .best(complaint: Self.complainOnce) }

  init(name: String, carrier: any Transport) {
    self.name = name
    self.carrier = carrier
    cancellable = carrier as? any CancellableTransport
  }

  /// Sends a request through the carrier.
  /// Throws ``TaskError``, and `CancellationError` when the surrounding task is cancelled.
  public func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await carrier.send(request) }

  package var isCancellable: Bool { cancellable?.isCancellable ?? false }

  package func send(
    _ request: HTTPRequest, to origin: Origin, begun: @Sendable (any Cancellable) -> Void
  ) async throws -> HTTPResponse {
    guard let cancellable else { return try await carrier.send(request) }
    return try await cancellable.send(request, to: origin, begun: begun)
  }
}

extension Transport where Self == PlatformTransport {
  /// The transport that suits the platform, with connections of its own.
  public static var platform: PlatformTransport { PlatformTransport() }
}

extension PlatformTransport {
  private static let hasComplained = Lock(false)

  private static func complainOnce(_ complaint: String) {
    let isFirst = hasComplained.withLock { hasComplained in
      defer { hasComplained = true }
      return !hasComplained
    }
    // Nothing can be done for a process without a standard error.
    if isFirst { try? FileHandle.standardError.write(contentsOf: Data("errand: \(complaint)\n".utf8)) }
  }
}

#if os(Linux)
  extension PlatformTransport {
    /// The transport of `make`, or else `URLSession` and a complaint.
    static func best(
      complaint: (String) -> Void, make: () throws -> any Transport = { try CurlTransport() }
    ) -> PlatformTransport {
      do {
        return PlatformTransport(name: "curl", carrier: try make())
      } catch {
        let reason = (error as? TaskError)?.reason ?? "\(error)"
        complaint("libcurl cannot be used (\(reason)): requests go over URLSession, which is slower and less safe here")
        return PlatformTransport(name: "URLSession", carrier: URLSessionTransport())
      }
    }
  }
#else
  extension PlatformTransport {
    /// `URLSession`, which is always there.
    static func best(complaint: (String) -> Void) -> PlatformTransport {
      PlatformTransport(name: "URLSession", carrier: URLSessionTransport())
    }
  }
#endif
