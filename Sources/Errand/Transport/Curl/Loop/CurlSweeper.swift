#if os(Linux)
  import CCurl

  /// Closes dead idle connections.
  ///
  /// libcurl closes such a connection only on the next request to its host and has no function to close it earlier.
  /// The sweeper therefore starts a request to the host with a handle that can neither reuse nor open a connection.
  final class CurlSweeper {
    struct Route: Hashable {
      let host: String
      let port: Int
      /// The HTTP proxy that receives requests without TLS instead of the host.
      let proxy: String?
    }

    private let handle: OpaquePointer

    init?() {
      guard let handle = ccurl_easy_init() else { return nil }
      self.handle = handle
      ccurl_easy_set_long(handle, CCOPT_NOSIGNAL, 1)
      ccurl_easy_set_string(handle, CCOPT_NOPROXY, "")
      ccurl_easy_set_long(handle, CCOPT_HTTP_VERSION, Int(CC_HTTP_VERSION_1_1))
      // No connection is bound to this port, so none is reused.
      ccurl_easy_set_long(handle, CCOPT_LOCALPORT, 1)
      ccurl_easy_set_long(handle, CCOPT_QUICK_EXIT, 1)
      ccurl_easy_set_resolver_start(handle, { _, _, _ in 1 }, nil)
      ccurl_easy_set_opensocket(handle, { _, _, _ in CC_SOCKET_BAD }, nil)
    }

    deinit { ccurl_easy_cleanup(handle) }

    func sweep(_ multi: CurlMulti, _ route: Route) {
      ccurl_easy_set_string(handle, CCOPT_URL, "http://\(route.host):\(route.port)/")
      ccurl_easy_set_string(handle, CCOPT_PROXY, route.proxy ?? "")
      multi.passThrough(handle)
    }
  }
#endif
