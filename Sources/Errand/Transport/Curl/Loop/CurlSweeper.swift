#if os(Linux)
  import CCurl

  /// Closes idle connections that are dead. libcurl does so only when their host is used again, and has no function
  /// for it: this requests the host with a handle that fits no connection and may open none.
  final class CurlSweeper {
    /// By which libcurl finds the connections of a host.
    struct Route: Hashable {
      let host: String
      let port: Int
      /// The HTTP proxy that a plain request goes to in the place of the host.
      let proxy: String?
    }

    private let handle: OpaquePointer

    init?() {
      guard let handle = ccurl_easy_init() else { return nil }
      self.handle = handle
      ccurl_easy_set_long(handle, CCOPT_NOSIGNAL, 1)
      ccurl_easy_set_string(handle, CCOPT_NOPROXY, "")
      ccurl_easy_set_long(handle, CCOPT_HTTP_VERSION, Int(CC_HTTP_VERSION_1_1))
      // No connection was bound to this port: none is used again.
      ccurl_easy_set_long(handle, CCOPT_LOCALPORT, 1)
      ccurl_easy_set_long(handle, CCOPT_QUICK_EXIT, 1)
      ccurl_easy_set_resolver_start(handle, { _, _, _ in 1 }, nil)
      ccurl_easy_set_opensocket(handle, { _, _, _ in CC_SOCKET_BAD }, nil)
    }

    deinit { ccurl_easy_cleanup(handle) }

    /// Has `multi` check its idle connections to a host, and close those that are dead.
    func sweep(_ multi: CurlMulti, _ route: Route) {
      ccurl_easy_set_string(handle, CCOPT_URL, "http://\(route.host):\(route.port)/")
      ccurl_easy_set_string(handle, CCOPT_PROXY, route.proxy ?? "")
      multi.passThrough(handle)
    }
  }
#endif
