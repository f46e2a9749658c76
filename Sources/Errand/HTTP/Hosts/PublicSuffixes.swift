import ErrandFoundation

/// The domains under which the public can register names, such as `com`, `co.uk` and `github.io`. A cookie for such a
/// domain would be sent to unrelated sites (RFC 6265bis §5.7, step 8).
struct PublicSuffixes: Sendable {
  /// The rules in the list's syntax, with names in ASCII form. `nil` if no list was found.
  private let rules: Set<String>?

  /// The system's list, or the fallback rule if the list can't be read. Loaded lazily, because most servers don't set
  /// cookies for a domain.
  static let system: PublicSuffixes = {
    for path in ["/usr/share/publicsuffix/public_suffix_list.dat", "/usr/share/publicsuffix/effective_tld_names.dat"] {
      guard let list = try? Data(contentsOf: URL(fileURLWithPath: path)), !list.isEmpty else { continue }
      return PublicSuffixes(list: list)
    }
    return PublicSuffixes()
  }()

  init() { rules = nil }

  /// Parses a list in publicsuffix.org format: each line is a rule up to the first whitespace, and `//` starts a
  /// comment.
  init(list: Data) {
    var rules: Set<String> = []
    rules.reserveCapacity(list.count / 24)
    for line in Array(list).split(separator: UInt8(ascii: "\n")) {
      let rule = line.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") && $0 != UInt8(ascii: "\r") }
      guard !rule.isEmpty, !rule.starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) else { continue }
      if let rule = Self.normal(rule) { rules.insert(rule) }
    }
    self.rules = rules
  }

  /// Whether the suffixes come from a full list. The fallback rule covers only a few suffixes.
  var isComplete: Bool { rules != nil }

  func isSuffix(_ domain: String) -> Bool { suffixLength(of: Self.labels(of: domain)) >= Self.labels(of: domain).count }

  /// Returns the registrable domain of a normalized host name, which is its suffix with one more label. Returns `nil`
  /// if the host is a suffix.
  func registrableDomain(of host: String) -> String? {
    let labels = Self.labels(of: host)
    let length = suffixLength(of: labels)
    return length < labels.count ? labels.suffix(length + 1).joined(separator: ".") : nil
  }

  private func suffixLength(of labels: [Substring]) -> Int {
    guard let rules else { return Self.guessedLength(of: labels) }
    for start in labels.indices {
      let length = labels.count - start
      let name = labels[start...].joined(separator: ".")
      // "If more than one rule matches, the prevailing rule is the one which is an exception rule", without its
      // leftmost label.
      if rules.contains("!" + name) { return length - 1 }
      // "If there is no matching exception rule, the prevailing rule is the one with the most labels": the first match.
      if rules.contains(name) { return length }
      if length > 1, rules.contains("*." + labels[(start + 1)...].joined(separator: ".")) { return length }
    }
    return 1  // "If no rules match, the prevailing rule is '*'."
  }

  private static func labels(of name: String) -> [Substring] { name.split(separator: ".") }

  /// Returns a rule with its name in ASCII form, or `nil` if the name has no ASCII form.
  private static func normal(_ rule: ArraySlice<UInt8>) -> String? {
    let text = String(decoding: rule, as: UTF8.self)
    guard rule.contains(where: { $0 >= 0x80 }) else { return text.lowercased() }
    let mark = text.hasPrefix("*.") ? "*." : text.hasPrefix("!") ? "!" : ""
    return (try? HostName.convert(String(text.dropFirst(mark.count)))).map { mark + $0 }
  }
}

/// The fallback rule. Without a list, a cookie is always restricted to its host, even if its `Domain` is a parent
/// domain.
extension PublicSuffixes {
  /// Second-level labels that are suffixes under many country codes.
  private static let general: Set<Substring> = [
    "ac", "ad", "co", "com", "ed", "edu", "go", "gob", "gouv", "gov", "govt", "gv", "id", "ltd", "me", "mil", "ne",
    "net",
    "nom", "or", "org", "plc", "sch",
  ]
  /// Hosting domains with many unrelated owners.
  private static let hosting: Set<String> = [
    "appspot.com", "azurewebsites.net", "blogspot.com", "cloudfront.net", "firebaseapp.com", "fly.dev", "github.io",
    "gitlab.io", "herokuapp.com", "netlify.app", "onrender.com", "pages.dev", "vercel.app", "web.app", "workers.dev",
  ]

  private static func guessedLength(of labels: [Substring]) -> Int {
    guard labels.count > 1, let last = labels.last else { return 1 }
    let second = labels[labels.count - 2]
    return (last.count == 2 && general.contains(second)) || hosting.contains("\(second).\(last)") ? 2 : 1
  }
}
