package import ErrandFoundation

/// A sample text in every compression format, for tests that can't compress data themselves.
package enum CompressedSample {
  package static let text = Data((0..<40).map { "line \($0): \($0 * $0)\n" }.joined().utf8)

  /// gzip, with every optional header field (RFC 1952 §2.3.1).
  package static let gzip = data(
    "H4sIHgAAAAACAwQAeHRyYW5hbWUAcmVtYXJrAAzsPZBBEsMwCAPvfQVPMGA7Nv/poTOZ/v9YUaPclGCkRffn+5YW0l53Kg3R"
      + "oyykH+Uh+6iO6TxyhNg4coZ4/b2wVG9XyCyDHbLKVRGljWGZZpwgUHttqGdSOWnG7krQDGayzqTgBOG2uIN4N7rtJORdIOgk"
      + "MBD0zkmevGrHQDCs3AwE46ocA8EkgYFgPhMQXM8OCK7HLStgjoNgk8BBsMnm2UEjtmcJjRd5tqA81kdWRwqf+cWKHBjqbM/X"
      + "v1d6AkQHOv8BLO170PgBAAA=")

  /// "deflate" as standardized (RFC 9110 §8.4.1.2), with the zlib header and checksum.
  package static let zlib = data(
    "eNo9kEESwzAIA+99BU8wYDs2/+mhM5n+/1hRo9yUYKRF9+f7lhbSXncqDdGjLKQf5SH7qI7pPHKE2Dhyhnj9vbBUb1fILIMd"
      + "sspVEaWNYZlmnCBQe22oZ1I5acbuStAMZrLOpOAE4ba4g3g3uu0k5F0g6CQwEPTOSZ68asdAMKzcDATjqhwDwSSBgWA+ExBc"
      + "zw4IrsctK2COg2CTwEGwyebZQSO2ZwmNF3m2oDzWR1ZHCp/5xYocGOpsz9e/V3oCRAc6/wEl8HwV")

  /// "deflate" as some servers send it, without the zlib header and checksum.
  package static let deflate = data(
    "PZBBEsMwCAPvfQVPMGA7Nv/poTOZ/v9YUaPclGCkRffn+5YW0l53Kg3RoyykH+Uh+6iO6TxyhNg4coZ4/b2wVG9XyCyDHbLK"
      + "VRGljWGZZpwgUHttqGdSOWnG7krQDGayzqTgBOG2uIN4N7rtJORdIOgkMBD0zkmevGrHQDCs3AwE46ocA8EkgYFgPhMQXM8O"
      + "CK7HLStgjoNgk8BBsMnm2UEjtmcJjRd5tqA81kdWRwqf+cWKHBjqbM/Xv1d6AkQHOv8B")

  package static let brotli = data(
    "G/cBAIzUXvVCkY3ccPa3JAhMHiBQ6mbvkyWraKf6wpkJBAKFwZIgFLAxBoKnXaO9/uafL2AADrGj6EbASZPc8FLlMqJ5eDA/"
      + "x+H24iqWpK1UqgabNFm0Xl05L0V7g+C0ZoJYklgn1maR/YIdmszw/FjO70T7hNjpzsRiNfDDUJ7b1FUyHNmkFbPR86Y6S1Jf"
      + "Ex8=")

  /// zstd, with a checksum.
  package static let zstd = data(
    "KLUv/WT4AJUFACLOHQ7A6zb+F2Y3ZZMy/RByWKAW5YuZlSflqvwoLn/l8qJa3iqUL4fyvsK3Ch/KCF9MBk/scfz5eOEheLMF"
      + "XybG22Z8bXxwr/hiLp4UYn4I8ydsXlwpb+XKl1l5u3xD+dASvtjxpBg/rvgT5sWVt8KX8S5fEPhAkw4KKKggAiIwFl8NYCds"
      + "QR4gAiI1HwTY/ybYcEmVZC9Tlgr0CiBaUVVgNpnqblvCsTf21tFcJaX0ohRrwO4k")

  /// 8,400,000 zeros, compressed to 8,174 bytes with gzip. Most of the compressed bytes are zeros, and each of these
  /// encodes 1,032 zeros.
  package static let zeros: Data = {
    let start: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xED, 0xC1, 0x81, 0, 0, 0, 0, 0xC3, 0xA0, 0xF9]
    let codes: [UInt8] = [0x53, 0x1F, 0xE1, 0x02, 0x55, 0x01]
    let end: [UInt8] = [0xC0, 0x37, 0x59, 0x16, 0x01, 0xCC, 0x80, 0x2C, 0x80, 0]
    return Data(start + codes) + Data(count: 8138) + Data(end)
  }()

  package static let zerosCount = 8_400_000

  /// 32 MB of zeros, compressed to 51 bytes with Brotli.
  package static let brotliZeros = data("y///PwAkAOKxQHLv//j//weABEAcFoDu/R////8AkACIwwLQvf/L//8/ABIAcVgAuvd/")

  private static func data(_ base64: String) -> Data { Data(base64Encoded: base64) ?? Data() }
}
