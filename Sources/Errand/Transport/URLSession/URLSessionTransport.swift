#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    public import Errand
    import Foundation
    public import FoundationNetworking
  #else
    public import Foundation
  #endif

  /// Requests over Foundation's `URLSession`: the transport on Apple platforms.
  ///
  ///     let transport = URLSessionTransport(trust: ServerTrust(pins: ["api.example.com": ["sha256/…"]]))
  ///
  /// Proxies, TLS versions and connection limits are those of the configuration, which is copied. In the copy cookies,
  /// caches, stored credentials and redirects are off, because the pipeline does those. A response is buffered up to
  /// 1 MiB ahead of its reader; beyond, the server waits. The last reference to go closes the connections once their
  /// transfers are over.
  ///
  /// URLSession does not offer these, and so they are unavailable here:
  ///
  /// - It repeats some requests by itself on a dead pooled connection, bodies in memory and files included. Only a body
  ///   that is a stream is kept from going out twice (``TransferOptions/mayRepeat``).
  /// - It does not say when a connection is established. ``Timeouts/connect`` is held by itself for requests with a body, up to
  ///   its first byte; without one it is added to ``Timeouts/firstByte``.
  /// - Version, reuse and timings are known when the transfer is over. A response whose body is still on its way says
  ///   nothing of the version, and that the connection is new.
  /// - It decodes compressed bodies always, and leaves `Content-Encoding` and `Content-Length` in the header.
  /// - GET with a body is refused.
  /// - It does not ask before it connects: a request with an ``AddressPolicy`` is refused.
  ///
  /// The code was written for Apple platforms but **has been run on Linux only**, where it is compiled so that its
  /// types are checked and the parts that both share are tested. Not run anywhere: key pins and client certificates,
  /// streamed uploads, back-pressure, waiting for connectivity, and timings.
  ///
  /// On Linux use ``CurlTransport``. FoundationNetworking may deadlock or crash the process when requests are cancelled,
  /// and nothing here can mend that. There, responses are buffered without bound, streamed bodies are gathered in memory
  /// before they are sent, proxies are ignored, timings are not measured, and pinned hosts are refused.
  public final class URLSessionTransport: Transport {
    private let ordinary: URLSessionLane
    private let patient: URLSessionLane
    private let trust: ServerTrust
    private let clock: CallClock

    /// A transport with connections of its own.
    ///
    /// - Parameters:
    ///   - configuration: How to connect. It is copied, so later changes to it have no effect.
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

    /// An ephemeral configuration that leaves the number of connections to the manager's limits: time spent in
    /// URLSession's own line would count as the attempt's.
    public static func standardConfiguration() -> URLSessionConfiguration {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.httpMaximumConnectionsPerHost = 64
      return configuration
    }

    /// Sends `request` and returns when the head of the response is there.
    /// Throws ``TaskError``, and `CancellationError` when the surrounding task is cancelled.
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
    /// Requests over `URLSession`, with a configuration that is copied.
    public static func urlSession(
      _ configuration: URLSessionConfiguration = URLSessionTransport.standardConfiguration(),
      trust: ServerTrust = ServerTrust()
    ) -> URLSessionTransport {
      URLSessionTransport(configuration: configuration, trust: trust)
    }
  }
#endif
