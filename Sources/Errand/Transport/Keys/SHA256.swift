import ErrandFoundation

#if canImport(CryptoKit)
  import CryptoKit
#endif

/// An incremental SHA-256 hash (FIPS 180-4 §6.2).
package struct SHA256 {
  #if canImport(CryptoKit)
    private var hash = CryptoKit.SHA256()
  #else
    private var hash = PortableSHA256()
  #endif

  package init() {}

  package static func hexadecimal(of text: String) -> String { hexadecimal(hash(Array(text.utf8))) }

  package static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  package static func hash(_ message: some Collection<UInt8>) -> [UInt8] {
    var hash = SHA256()
    hash.update(message)
    return hash.finish()
  }

  package mutating func update(_ bytes: some Collection<UInt8>) {
    let isDone: Void? = bytes.withContiguousStorageIfAvailable {
      hash.update(bufferPointer: UnsafeRawBufferPointer($0))
    }
    guard isDone == nil else { return }
    Array(bytes).withUnsafeBytes { hash.update(bufferPointer: $0) }
  }

  package func finish() -> [UInt8] { Array(hash.finalize()) }
}
