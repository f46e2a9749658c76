#if canImport(Darwin)
  public import ErrandFoundation
  import Security

  /// Stores secrets in the keychain of an Apple platform, as generic passwords.
  ///
  /// Secrets can be read after the device has been unlocked once since it restarted, so background work can continue.
  /// Secrets never leave the device.
  public struct KeychainSecretStore: SecretStore {
    private let service: String
    private let accessGroup: String?

    /// Creates a store. `service` is a name that separates its secrets from other secrets, such as the app's
    /// identifier. Apps in the same access group share the secrets.
    public init(service: String, accessGroup: String? = nil) {
      self.service = service
      self.accessGroup = accessGroup
    }

    /// Returns the secret with this name, or `nil` if it is not stored.
    /// Throws ``TaskError`` with code `.authenticationFailed` if the keychain returns an error.
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

    /// Stores a secret with this name, replacing any previous one. `nil` removes the secret.
    /// Throws ``TaskError`` with code `.fileNotWritable` if the keychain returns an error. In that case, the old secret
    /// is kept.
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
      let words = SecCopyErrorMessageString(status, nil) as String? ?? "unknown error"
      return TaskError(code, "keychain error \(status): \(words)", phase: .authenticating)
    }
  }
#endif
