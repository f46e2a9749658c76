#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    public import Errand
    import Foundation
    public import FoundationNetworking
  #else
    public import Foundation
  #endif

  /// A transport that uses Foundation's `URLSession`. The default on Apple platforms.
  ///
  ///     let transport = URLSessionTransport(trust: ServerTrust(pins: ["api.example.com": ["sha256/…"]]))
  ///
  /// Proxies, TLS versions and connection limits come from the configuration, which is copied. Cookies, caches, stored
  /// credentials and redirects are disabled, because the pipeline handles them. Up to 1 MiB of a response is buffered
  /// ahead of its reader; beyond that, the server waits. When the last reference to the transport is released, its
  /// connections close once their transfers have ended.
  ///
  /// URLSession imposes these limits:
  ///
  /// - URLSession resends some requests after a pooled connection turns out to be stale, including those with bodies in
  ///   memory or in files. The transport can prevent this only for streamed bodies (``TransferOptions/mayRepeat``).
  /// - URLSession doesn't report when a connection is established. ``Timeouts/connect`` applies separately only to
  ///   requests with a body, until the first byte of the body is sent. For requests without a body, it is added to
  ///   ``Timeouts/firstByte``.
  /// - The version, connection reuse and timings are known only after the transfer. A response whose body is still
  ///   arriving has no version, and its connection is reported as new.
  /// - Compressed bodies are always decoded, and `Content-Encoding` and `Content-Length` remain in the header.
  /// - GET requests with a body are rejected.
  /// - URLSession can't check an address before it connects, so requests with an ``AddressPolicy`` are rejected.
  ///
  /// The code was written for Apple platforms but **has only been run on Linux**. It is compiled there for type
  /// checking, and the shared parts are tested. These features have never been tested: key pins, client
  /// certificates, streamed uploads, back-pressure, waiting for connectivity, and timings.
  ///
  /// On Linux, use ``CurlTransport``. FoundationNetworking can deadlock or crash the process when requests are
  /// cancelled, and this transport can't prevent that. On Linux, responses are buffered without a limit, streamed
  /// bodies are read into memory before they are sent, proxies are ignored, timings are not measured, and requests to
  /// pinned hosts are rejected.
  public final class URLSessionTransport: Transport {
    private let ordinary: URLSessionLane
    private let patient: URLSessionLane
    private let trust: ServerTrust
    private let clock: CallClock

    /// Creates a transport with its own connections.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the sessions. It is copied, so later changes have no effect.
    ///   - trust: Pinned keys and client certificates.
    public convenience init(
      configuration: URLSessionConfiguration = URLSessionTransport.standardConfiguration(),
      trust: ServerTrust = ServerTrust()
    ) {
      self.init(configuration: configuration, trust: trust, clock: .continuous)
    }

    package init(configuration: URLSessionConfiguration, trust: ServerTrust, clock: CallClock) {
      (ordinary, patient) = URLSessionLane.pair(configuration, trust: trust)
      self.trust = trust
      self.clock = clock
    }

    /// Returns an ephemeral configuration with a high connection limit (64 per host), because time in URLSession's own
    /// queue would count towards the attempt timeout. The server's throttle limits apply instead.
    public static func standardConfiguration() -> URLSessionConfiguration {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.httpMaximumConnectionsPerHost = 64
      return configuration
    }

    /// Sends `request` and returns the response when its head arrives.
    ///
    /// Throws ``TaskError``, or `CancellationError` if the surrounding task is cancelled.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
      try Task.checkCancellation()
      let origin = try request.checkedOrigin()
      guard request.options.addressPolicy.allowsAll else { throw TaskError.cannotCheckAddresses }
      if let refusal = trust.refusal(ofHost: origin.host, adding: request.options.pins) { throw refusal }
      let lane = request.options.waitsForConnectivity ? patient : ordinary
      let exchange = URLSessionExchange(request.addressed(to: origin), clock: clock)
      let head = try await lane.begin(exchange)
      let measurements = exchange.measurements
      return HTTPResponse(
        HTTPStatus(head.statusCode), url: request.url, headers: HTTPHeaders(head), version: measurements?.version,
        isConnectionReused: measurements?.isConnectionReused ?? false, body: HTTPResponseBody(exchange))
    }
  }

  extension Transport where Self == URLSessionTransport {
    /// Creates a transport that uses `URLSession` with a copy of the configuration.
    public static func urlSession(
      _ configuration: URLSessionConfiguration = URLSessionTransport.standardConfiguration(),
      trust: ServerTrust = ServerTrust()
    ) -> URLSessionTransport {
      URLSessionTransport(configuration: configuration, trust: trust)
    }
  }
#endif
