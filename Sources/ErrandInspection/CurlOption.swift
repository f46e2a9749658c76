/// How a `curl` option affects the request.
enum CurlOption: Sendable, Equatable {
  /// The option changes the request.
  case used(takesValue: Bool)
  /// The option does not change the request.
  case ignored(takesValue: Bool)
  /// The option is not supported. The value is the reason.
  case refused(String)

  static func named(_ name: String) -> CurlOption? { table[name] }

  static func longName(of letter: Character) -> String? { letters[letter] }

  private static let table: [String: CurlOption] = {
    var table: [String: CurlOption] = [:]
    for name in names("head get location compressed globoff path-as-is") { table[name] = .used(takesValue: false) }
    for name in names(
      """
      request header data data-ascii data-raw data-binary data-urlencode json form form-string user user-agent referer cookie
      url upload-file range max-time connect-timeout oauth2-bearer
      """)
    { table[name] = .used(takesValue: true) }
    for name in names(
      """
      silent show-error verbose include fail fail-with-body fail-early remote-name remote-name-all remote-header-name
      no-buffer progress-bar no-progress-meter ipv4 ipv6 http1.1 http2 http3 disable create-dirs raw
      styled-output no-styled-output tcp-nodelay tcp-fastopen no-keepalive no-sessionid tlsv1 tlsv1.2 tlsv1.3 ssl retry-all-errors
      retry-connrefused basic junk-session-cookies no-alpn compressed-ssh
      """)
    { table[name] = .ignored(takesValue: false) }
    for name in names(
      """
      output output-dir write-out dump-header cookie-jar stderr trace trace-ascii retry retry-delay retry-max-time max-redirs
      keepalive-time limit-rate speed-limit speed-time max-filesize expect100-timeout
      """)
    { table[name] = .ignored(takesValue: true) }
    for (name, reason) in refusals { table[name] = .refused(reason) }
    return table
  }()

  private static let refusals = [
    "insecure": "certificates are always verified; to trust your own CA, set TLSSettings.authorities",
    "cacert": "set the CA certificates with TLSSettings.authorities",
    "capath": "set the CA certificates with TLSSettings.authorities",
    "cert": "set the certificate with TLSSettings.identity", "key": "set the key with TLSSettings.identity",
    "proxy": "set CurlTransport.Configuration.proxies", "socks5": "set CurlTransport.Configuration.proxies",
    "socks5-hostname": "set CurlTransport.Configuration.proxies",
    "proxy-user": "set CurlTransport.Configuration.proxies",
    "proxy-header": "set CurlTransport.Configuration.proxies",
    "resolve": "set CurlTransport.Configuration.addresses",
    "connect-to": "set CurlTransport.Configuration.addresses",
    "unix-socket": "set CurlTransport.Configuration.unixSocket",
    "proto-default": "add the scheme to the URL",
    "config": "put the file's options in the command", "netrc": "pass the credentials with --user",
    "netrc-file": "pass the credentials with --user",
    "next": "a command can make only one request; split it into several commands",
    "parallel": "a command can make only one request; split it into several commands",
    "location-trusted": "credentials are sent only to their origin; see ServerConfiguration.trustedOrigins",
    "digest": "set TransferOptions.digest", "anyauth": "use a specific authentication scheme",
    "ntlm": "this authentication scheme is not supported",
    "negotiate": "this authentication scheme is not supported",
    "aws-sigv4": "this authentication scheme is not supported",
    "continue-at": "use --range, or resume the download with a task",
    "time-cond": "set If-Modified-Since with --header",
  ]

  private static let letters: [Character: String] = [
    "X": "request", "H": "header", "d": "data", "F": "form", "u": "user", "A": "user-agent", "e": "referer",
    "b": "cookie",
    "I": "head", "G": "get", "k": "insecure", "L": "location", "s": "silent", "S": "show-error", "v": "verbose",
    "i": "include", "f": "fail", "o": "output", "O": "remote-name", "w": "write-out", "m": "max-time",
    "T": "upload-file",
    "r": "range", "x": "proxy", "E": "cert", "c": "cookie-jar", "g": "globoff", "N": "no-buffer",
    "J": "remote-header-name",
    "#": "progress-bar", "q": "disable", "4": "ipv4", "6": "ipv6", "D": "dump-header", "n": "netrc", "K": "config",
    "U": "proxy-user", "z": "time-cond", "C": "continue-at", "j": "junk-session-cookies", "Z": "parallel", ":": "next",
    "1": "tlsv1", "y": "speed-time", "Y": "speed-limit",
  ]

  private static func names(_ text: String) -> [String] { text.split { $0 == " " || $0 == "\n" }.map(String.init) }
}
