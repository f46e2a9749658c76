import Errand

/// A checksum algorithm for upload chunks (RFC 3174 and FIPS 180-4).
public enum UploadChecksum: String, Codable, Sendable, Hashable, CaseIterable {
  /// SHA-256.
  case sha256
  /// SHA-1, which every server that supports checksums must offer. It detects corrupted data, but not forged data.
  case sha1

  enum Hash: Sendable {
    case sha1(SHA1)
    case sha256(SHA256)

    mutating func update(_ bytes: some Collection<UInt8>) {
      switch self {
      case .sha1(var hash):
        hash.update(bytes)
        self = .sha1(hash)
      case .sha256(var hash):
        hash.update(bytes)
        self = .sha256(hash)
      }
    }

    consuming func finish() -> [UInt8] {
      switch self {
      case .sha1(let hash): hash.finish()
      case .sha256(let hash): hash.finish()
      }
    }
  }

  var hash: Hash {
    switch self {
    case .sha1: .sha1(SHA1())
    case .sha256: .sha256(SHA256())
    }
  }
}
