public import ErrandFoundation

/// The rules that choose a proxy for each request.
///
/// What goes to this machine never does, whatever the rules: `localhost`, `*.localhost`, 127.0.0.0/8 and `[::1]` are
/// reached directly.
public struct ProxyRules: Sendable {
  private let proxies: [String: Proxy]
  private let exceptions: [Exception]
  /// By scheme, the variable of the environment that names a proxy and cannot be read.
  private var unreadable: [String: String] = [:]

  /// No proxy, whatever the environment says.
  public static let none = ProxyRules([:], except: [])

  /// Everything goes through `proxy`, but for the hosts of `exceptions`, which are written as in `NO_PROXY`.
  public static func all(_ proxy: Proxy, except exceptions: [String] = []) -> ProxyRules {
    ProxyRules(["http": proxy, "https": proxy], except: exceptions)
  }

  /// As the environment says: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, in lower or upper case.
  ///
  /// `HTTP_PROXY` in upper case is not read: a CGI program is given it by its clients. Where a variable is no address of a proxy,
  /// requests that would go by it fail with code `.transportUnavailable`: none of them goes past a proxy that was meant.
  public static func environment(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> ProxyRules {
    func variable(_ names: String...) -> (name: String, value: String)? {
      for name in names {
        if let value = environment[name]?[...].trimmingSpaces(), !value.isEmpty { return (name, String(value)) }
      }
      return nil
    }
    let all = variable("all_proxy", "ALL_PROXY")
    let named = ["http": variable("http_proxy") ?? all, "https": variable("https_proxy", "HTTPS_PROXY") ?? all]
    let exceptions = variable("no_proxy", "NO_PROXY")?.value ?? ""
    var rules = ProxyRules(
      named.compactMapValues { $0.flatMap { Proxy($0.value) } },
      except: exceptions.split(separator: ",").map { String($0.trimmingSpaces()) })
    for (scheme, variable) in named where rules.proxies[scheme] == nil { rules.unreadable[scheme] = variable?.name }
    return rules
  }

  private init(_ proxies: [String: Proxy], except exceptions: [String]) {
    self.proxies = proxies
    self.exceptions = exceptions.compactMap { Exception($0) }
  }

  /// True when a proxy asks the app for credentials.
  var asksForCredentials: Bool { proxies.values.contains { $0.renewCredential != nil } }

  /// The proxy for an origin; nil where it is reached directly.
  public func proxy(for origin: Origin) -> Proxy? {
    guard let proxy = proxies[origin.scheme], !isException(origin) else { return nil }
    return proxy
  }

  /// The error for an origin whose proxy is not known, for the environment's word for it cannot be read; nil for any other.
  func problem(for origin: Origin) -> TaskError? {
    guard let name = unreadable[origin.scheme], !isException(origin) else { return nil }
    return TaskError(
      .transportUnavailable,
      "the environment variable \(name) is not the address of a proxy: write http://proxy.example.com:3128, or https or socks5,"
        + " with a user and password escaped as in URLs", phase: .preparing, isSurelyNotSent: true)
  }

  /// True for what is reached directly.
  private func isException(_ origin: Origin) -> Bool {
    // What is for this machine is plain http as a rule, and no business of another one.
    origin.isLoopback || exceptions.contains { $0.matches(origin) }
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
