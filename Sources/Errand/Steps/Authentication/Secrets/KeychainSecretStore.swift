#if canImport(Darwin)
  public import ErrandFoundation
  import Security

  /// Keeps secrets in the keychain of an Apple platform, as generic passwords.
  ///
  /// They are readable once the device was unlocked after a start, so that work in the background goes on, and stay on this
  /// device.
  public struct KeychainSecretStore: SecretStore {
    private let service: String
    private let accessGroup: String?

    /// A store for a service: a name that keeps its secrets apart from others, such as the app's identifier. With an access
    /// group, the apps of that group share them.
    public init(service: String, accessGroup: String? = nil) {
      self.service = service
      self.accessGroup = accessGroup
    }

    /// The secret of a name; nil where there is none.
    /// Throws ``TaskError`` with code `.authenticationFailed` where the keychain refuses.
    @concurrent public func secret(named name: String) async throws -> Data? {
      var query = query(name)
      query[kSecReturnData as String] = true
      query[kSecMatchLimit as String] = kSecMatchLimitOne
      var item: CFTypeRef?
      let status = SecItemCopyMatching(query as CFDictionary, &item)
      if status == errSecItemNotFound { return nil }
      guard status == errSecSuccess, let data = item as? Data else { throw Self.failure(status, .authenticationFailed) }
      return data
    }

    /// Replaces the secret of a name; nil removes it.
    /// Throws ``TaskError`` with code `.fileNotWritable` where the keychain refuses; the old one stays then.
    @concurrent public func setSecret(_ secret: Data?, named name: String) async throws {
      guard let secret else {
        let status = SecItemDelete(query(name) as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else {
          throw Self.failure(status, .fileNotWritable)
        }
        return
      }
      let values: [String: Any] = [
        kSecValueData as String: secret,
        kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
      ]
      var status = SecItemUpdate(query(name) as CFDictionary, values as CFDictionary)
      if status == errSecItemNotFound {
        status = SecItemAdd(query(name).merging(values) { $1 } as CFDictionary, nil)
      }
      guard status == errSecSuccess else { throw Self.failure(status, .fileNotWritable) }
    }

    private func query(_ name: String) -> [String: Any] {
      var query: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
        kSecAttrAccount as String: name,
      ]
      if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup }
      return query
    }

    private static func failure(_ status: OSStatus, _ code: TaskError.Code) -> TaskError {
      let words = SecCopyErrorMessageString(status, nil) as String? ?? "no words for it"
      return TaskError(code, "the keychain refuses with \(status): \(words)", phase: .authenticating)
    }
  }
#endif
