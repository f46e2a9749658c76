import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Checks that the guide "Configuring a server" lists every setting with its default.
@Suite(.ownThread, .timeLimit(.minutes(1))) struct DocumentedSettingsTests {
  /// The defaults in the second column, by the setting in the first column.
  private let defaults: [String: Set<String>]

  init() throws {
    var defaults: [String: Set<String>] = [:]
    for row in try DocumentedCode.rows(of: "Sources/Errand/Errand.docc/ConfiguringAServer.md") where row.count == 3 {
      defaults[row[0].filter { $0 != "`" }, default: []].insert(row[1])
    }
    self.defaults = defaults
  }

  /// Checks that the guide has a row for each stored property of `value`, with its default.
  private func check(_ value: some Any, except hidden: Set<String> = [], line: Int = #line) {
    let settings = Mirror(reflecting: value).children.filter { !hidden.contains($0.label ?? "") }
    #expect(settings.count > 1)
    for (label, value) in settings {
      let (name, text) = (label ?? "", Self.text(of: value))
      let documented = defaults[name] ?? []
      #expect(documented.contains(text), "\(name) is \(text), but documented as \(documented.sorted()), line \(line)")
    }
  }

  /// Returns a default value as it is written in the guide.
  private static func text(of value: Any) -> String {
    let mirror = Mirror(reflecting: value)
    switch value {
    case _ where mirror.displayStyle == .optional: return mirror.children.first.map { text(of: $0.value) } ?? "none"
    case let value as Bool: return "`\(value)`"
    case let value as Duration: return "\(value.inSeconds) s".replacingOccurrences(of: ".0 s", with: " s")
    case let value as any BinaryInteger: return text(ofNumber: Int64(value))
    case let value as Double: return "\(value)"
    case let value as HTTPHeaders: return "`\(value.map { "\($0.name): \($0.value)" }.joined(separator: ", "))`"
    case let value as String where value == ServerConfiguration.defaultUserAgent:
      return "`ServerConfiguration.defaultUserAgent`"
    case let value as any Collection where value.isEmpty: return "none"
    case let value as LogOptions where value.isEmpty: return "none"
    case let value as Remote where value == .none: return "none"
    case let value as PublicKeyPins where value == [:]: return "none"
    case let value as RateLimit where value == .none: return "none"
    case let value as ProxyRules where Mirror(reflecting: value).isEmpty(of: "proxies"): return "none"
    case let value as Timeouts where value == Timeouts(connect: .seconds(10)): return "`connect` 10 s"
    case let value as RetryPolicy where value.maximumAttempts == 3 && value.hasJitter: return "`.standard`"
    case let value as CircuitBreaker where value == .off: return "`.off`"
    case let value as CachePolicy where value == .standard: return "`.standard`"
    case let value as PayloadPath where value == .whole: return "`.whole`"
    case let value as Hedging where value == .none: return "`.none`"
    case let value as RedirectPolicy where value.kind == .follow && value.maximum == 20: return "`.follow`"
    case let value as AddressPolicy where value.allowsAll: return "`.any`"
    case let value as Authentication where value.isNone: return "`.none`"
    case let value as CookiePolicy where "\(value.kind)" == "perServer": return "`.perServer`"
    case let value as Redaction where value.fragments == Redaction.standard.fragments: return "`.standard`"
    case is LogOutput: return "standard error"
    case let value as RetryableStatuses:
      return (100...599).filter { value.contains(HTTPStatus($0)) }.map { "\($0)" }.joined(separator: ", ")
    case _ where mirror.displayStyle == .enum: return "`.\(value)`"
    default: return "`\(type(of: value))()`"
    }
  }

  private static func text(ofNumber number: Int64) -> String {
    switch number {
    case 0: "no limit"
    case _ where number % (1 << 30) == 0: "\(number >> 30) GiB"
    case _ where number % (1 << 20) == 0: "\(number >> 20) MiB"
    case _ where number % (1 << 10) == 0: "\(number >> 10) KiB"
    default: "\(number)"
    }
  }

  @Test func `lists every server setting`() { check(ServerConfiguration()) }

  @Test func `lists every field of the limits and policies`() {
    check(ServerConfiguration().timeouts)
    check(RetryPolicy.standard, except: ["decision", "isFixed", "isInherited"])
    check(ThrottleLimits())
    check(RetryBudget())
  }

  #if os(Linux)
    @Test func `lists every setting of the Linux transport`() {
      check(CurlTransport.Configuration())
      check(TLSSettings())
    }
  #endif
}

extension Mirror {
  fileprivate func isEmpty(of name: String) -> Bool {
    children.first { $0.label == name }.map { Mirror(reflecting: $0.value).children.isEmpty } ?? false
  }
}
