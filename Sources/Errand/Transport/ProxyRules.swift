public import ErrandFoundation

/// The rules that choose a proxy for each request.
///
/// What goes to this machine never does, whatever the rules: `localhost`, `*.localhost`, 127.0.0.0/8 and `[::1]` are
/// reached directly.
public struct ProxyRules: Sendable {
  private let proxies: [String: Proxy]
  private let exceptions: [Exception]

  /// No proxy, whatever the environment says.
  public static let none = ProxyRules([:], except: [])

  /// Everything goes through `proxy`, but for the hosts of `exceptions`, which are written as in `NO_PROXY`.
  public static func all(_ proxy: Proxy, except exceptions: [String] = []) -> ProxyRules {
    ProxyRules(["http": proxy, "https": proxy], except: exceptions)
  }

  /// As the environment says: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, in lower or upper case.
  ///
  /// `HTTP_PROXY` in upper case is not read: a CGI program is given it by its clients.
  public static func environment(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> ProxyRules {
    func value(_ names: String...) -> String? { names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } }
    let all = value("all_proxy", "ALL_PROXY")
    var proxies: [String: Proxy] = [:]
    proxies["http"] = (value("http_proxy") ?? all).flatMap { Proxy($0) }
    proxies["https"] = (value("https_proxy", "HTTPS_PROXY") ?? all).flatMap { Proxy($0) }
    let exceptions = value("no_proxy", "NO_PROXY") ?? ""
    return ProxyRules(proxies, except: exceptions.split(separator: ",").map { String($0.trimmingSpaces()) })
  }

  private init(_ proxies: [String: Proxy], except exceptions: [String]) {
    self.proxies = proxies
    self.exceptions = exceptions.compactMap { Exception($0) }
  }

  /// True when a proxy asks the app for credentials.
  var asksForCredentials: Bool { proxies.values.contains { $0.renewCredential != nil } }

  /// The proxy for an origin; nil where it is reached directly.
  public func proxy(for origin: Origin) -> Proxy? {
    // What is for this machine is plain http as a rule, and no business of another one.
    guard !origin.isLoopback, let proxy = proxies[origin.scheme], !exceptions.contains(where: { $0.matches(origin) })
    else { return nil }
    return proxy
  }

  /// `*`, a host, a domain with or without a leading dot for all hosts in it, each perhaps with a port.
  private struct Exception: Sendable {
    /// Nil is every host.
    private let host: String?
    private let port: Int?

    /// Nil where it names no host.
    init?(_ text: String) {
      guard text != "*" else {
        (host, port) = (nil, nil)
        return
      }
      var name = text[...]
      var port: Int?
      let isBareAddress = name.hasSuffix("]") || (!name.hasPrefix("[") && name.count { $0 == ":" } > 1)
      if !isBareAddress, let colon = name.lastIndex(of: ":"), let number = Int(name[name.index(after: colon)...]) {
        port = number
        name = name[..<colon]
      }
      while name.hasPrefix(".") || name.hasPrefix("*") { name.removeFirst() }
      guard !name.isEmpty else { return nil }
      host = HostName.normal(String(name))
      self.port = port
    }

    func matches(_ origin: Origin) -> Bool {
      guard let host else { return true }
      guard port == nil || port == origin.port else { return false }
      return origin.host == host || origin.host.hasSuffix(".\(host)")
    }
  }
}
