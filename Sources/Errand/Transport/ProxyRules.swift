public import ErrandFoundation

/// The rules that choose a proxy for each request.
///
/// Requests to this machine never use a proxy: `localhost`, `*.localhost`, 127.0.0.0/8 and `[::1]`.
public struct ProxyRules: Sendable {
  private let proxies: [String: Proxy]
  private let exceptions: [ProxyException]
  /// The names of the environment variables that are not valid proxy URLs, by scheme.
  private var unreadable: [String: String] = [:]

  /// No proxy, regardless of the environment.
  public static let none = ProxyRules([:], except: [])

  /// Returns rules that send all requests through `proxy`, except requests to the given hosts.
  ///
  /// - Parameters:
  ///   - proxy: The proxy.
  ///   - exceptions: The hosts to connect to directly, in the syntax of `no_proxy`. See <doc:TheTransports>.
  ///   - log: Receives a line for each exception that can't be parsed. Defaults to standard error.
  /// - Returns: The rules.
  public static func all(
    _ proxy: Proxy, except exceptions: [String] = [], log: LogOutput = .standardError
  ) -> ProxyRules {
    let entries = exceptions.flatMap { ProxyException.entries(of: $0) }
    return ProxyRules(
      ["http": proxy, "https": proxy], except: read(entries, of: "the exceptions of ProxyRules.all", log))
  }

  /// Returns the rules in the environment variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, in
  /// lowercase or uppercase.
  ///
  /// Uppercase `HTTP_PROXY` is ignored, because clients of a CGI program can set it. If a variable isn't a valid proxy
  /// URL, requests that would use it fail with code `.transportUnavailable` instead of bypassing the proxy.
  ///
  /// - Parameters:
  ///   - environment: The environment variables. Defaults to the environment of the process.
  ///   - log: Receives a line for each entry in `no_proxy` that can't be parsed. Defaults to standard error.
  /// - Returns: The rules.
  public static func environment(
    _ environment: [String: String] = ProcessInfo.processInfo.environment, log: LogOutput = .standardError
  ) -> ProxyRules {
    func variable(_ names: String...) -> (name: String, value: String)? {
      for name in names {
        if let value = environment[name]?[...].trimmingSpaces(), !value.isEmpty { return (name, String(value)) }
      }
      return nil
    }
    let all = variable("all_proxy", "ALL_PROXY")
    let named = ["http": variable("http_proxy") ?? all, "https": variable("https_proxy", "HTTPS_PROXY") ?? all]
    let exceptions = variable("no_proxy", "NO_PROXY").map { variable in
      read(ProxyException.entries(of: variable.value), of: variable.name, log)
    }
    var rules = ProxyRules(
      named.compactMapValues { $0.flatMap { Proxy($0.value) } }, except: exceptions ?? [])
    for (scheme, variable) in named where rules.proxies[scheme] == nil { rules.unreadable[scheme] = variable?.name }
    return rules
  }

  private static func read(_ entries: [String], of list: String, _ log: LogOutput) -> [ProxyException] {
    entries.compactMap { entry in
      let exception = ProxyException(entry)
      if exception == nil {
        log.write(
          "\(list): '\(entry.shortened)' is ignored because it is invalid, so its hosts are reached through the proxy: use a"
            + " host, a domain, a CIDR block such as 10.0.0.0/8, or *")
      }
      return exception
    }
  }

  private init(_ proxies: [String: Proxy], except exceptions: [ProxyException]) {
    self.proxies = proxies
    self.exceptions = exceptions
  }

  /// Returns the proxy for an origin, or `nil` to connect directly.
  public func proxy(for origin: Origin) -> Proxy? {
    guard let proxy = proxies[origin.scheme], !isException(origin) else { return nil }
    return proxy
  }

  /// Returns the error for an origin whose proxy variable is invalid, or `nil` if there is no such variable.
  func problem(for origin: Origin) -> TaskError? {
    guard let name = unreadable[origin.scheme], !isException(origin) else { return nil }
    return TaskError(
      .transportUnavailable,
      "the environment variable \(name) is not a valid proxy URL: use a URL such as http://proxy.example.com:3128 (or https or"
        + " socks5), with a percent-encoded user name and password", phase: .preparing, wasNotSent: true)
  }

  /// Whether an origin is reached directly. Loopback hosts always are, because a proxy on another machine can't reach
  /// them.
  private func isException(_ origin: Origin) -> Bool {
    origin.isLoopback || exceptions.contains { $0.matches(origin) }
  }
}
