import ErrandFoundation

/// The names below which the public may register names: `com`, `co.uk`, `github.io`. A cookie for one of them would go to
/// strangers (RFC 6265bis §5.7, step 8).
struct PublicSuffixes: Sendable {
  /// The rules of the list as they are written in it, names in the form in which they are looked up; nil without a list.
  private let rules: Set<String>?

  /// The list of the system where it can be read, else a short rule. Read when it is first needed: most servers set no cookie
  /// for a domain.
  static let system: PublicSuffixes = {
    for path in ["/usr/share/publicsuffix/public_suffix_list.dat", "/usr/share/publicsuffix/effective_tld_names.dat"] {
      guard let list = try? Data(contentsOf: URL(fileURLWithPath: path)), !list.isEmpty else { continue }
      return PublicSuffixes(list: list)
    }
    return PublicSuffixes()
  }()

  /// The rule for systems without a list.
  init() { rules = nil }

  /// The rules of a list in the format of publicsuffix.org: a rule a line up to the first blank, remarks after `//`.
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

  /// True with a list: what is none of its suffixes has one owner. The short rule knows some suffixes, and by far not all.
  var isComplete: Bool { rules != nil }

  /// True when a name is a suffix itself.
  func isSuffix(_ domain: String) -> Bool { suffixLength(of: Self.labels(of: domain)) >= Self.labels(of: domain).count }

  /// The suffix of a host with one label before it, which one owner has; nil for a suffix.
  ///
  /// - Parameter host: A name in its one form, no address.
  func registrableDomain(of host: String) -> String? {
    let labels = Self.labels(of: host)
    let length = suffixLength(of: labels)
    return length < labels.count ? labels.suffix(length + 1).joined(separator: ".") : nil
  }

  /// The number of labels of the suffix, at least 1.
  private func suffixLength(of labels: [Substring]) -> Int {
    guard let rules else { return Self.guessedLength(of: labels) }
    for start in labels.indices {
      let length = labels.count - start
      let name = labels[start...].joined(separator: ".")
      // "If more than one rule matches, the prevailing rule is the one which is an exception rule", whose leftmost label goes.
      if rules.contains("!" + name) { return length - 1 }
      // "If there is no matching exception rule, the prevailing rule is the one with the most labels": the first found.
      if rules.contains(name) { return length }
      if length > 1, rules.contains("*." + labels[(start + 1)...].joined(separator: ".")) { return length }
    }
    return 1  // "If no rules match, the prevailing rule is '*'."
  }

  private static func labels(of name: String) -> [Substring] { name.split(separator: ".") }

  /// A rule with its names as they are looked up; nil where they have no such form.
  private static func normal(_ rule: ArraySlice<UInt8>) -> String? {
    let text = String(decoding: rule, as: UTF8.self)
    guard rule.contains(where: { $0 >= 0x80 }) else { return text.lowercased() }
    let mark = text.hasPrefix("*.") ? "*." : text.hasPrefix("!") ? "!" : ""
    return (try? HostName.convert(String(text.dropFirst(mark.count)))).map { mark + $0 }
  }
}

/// The rule without a list. A cookie for a domain above its host stays with the host then, whatever the domain.
extension PublicSuffixes {
  /// Second labels that are suffixes below the codes of many countries.
  private static let general: Set<Substring> = [
    "ac", "ad", "co", "com", "ed", "edu", "go", "gob", "gouv", "gov", "govt", "gv", "id", "ltd", "me", "mil", "ne",
    "net",
    "nom", "or", "org", "plc", "sch",
  ]
  /// Hosts of many owners' pages.
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
