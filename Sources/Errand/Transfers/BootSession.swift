import ErrandFoundation

/// The run of the operating system. What a process wrote before it was killed is still there while the system runs on; what was not
/// synchronised may be lost with it.
enum BootSession {
  /// The name of the present one; nil where the system does not say.
  static let current: String? = {
    #if canImport(Darwin)
      var size = 0
      guard sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0) == 0, size > 1 else { return nil }
      var bytes = [UInt8](repeating: 0, count: size)
      guard sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return nil }
      return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    #else
      guard let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8) else {
        return nil  // then only what was synchronised counts
      }
      let name = text.filter { !$0.isWhitespace }
      return name.isEmpty ? nil : name
    #endif
  }()
}
