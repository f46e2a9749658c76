import ErrandFoundation

/// Identifies the operating system's current boot. Unsynchronized writes survive a crash of the process, but may be
/// lost if the system restarts.
enum BootSession {
  /// The ID of the current boot. `nil` if the system does not provide one.
  static let current: String? = {
    #if canImport(Darwin)
      var size = 0
      guard sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0) == 0, size > 1 else { return nil }
      var bytes = [UInt8](repeating: 0, count: size)
      guard sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return nil }
      return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    #else
      guard let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8) else {
        return nil  // without an ID, only synchronized data is trusted
      }
      let name = text.filter { !$0.isWhitespace }
      return name.isEmpty ? nil : name
    #endif
  }()
}
