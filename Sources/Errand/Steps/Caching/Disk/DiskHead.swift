import ErrandFoundation

/// The serialized header of a ``DiskCache`` file: the key and the response without its body.
struct DiskHead: Equatable {
  /// The key, with a hash instead of the URL, because a URL can contain a password or a token.
  let key: CacheKey
  let response: StoredResponse

  init(_ key: CacheKey, _ response: StoredResponse) {
    self.key = Self.hashed(key)
    self.response = response
  }

  static func hashed(_ key: CacheKey) -> CacheKey {
    CacheKey(url: SHA256.hexadecimal(of: key.url), credential: key.credential)
  }

  var bytes: Data {
    var writer = ByteWriter()
    writer.add(key.url)
    writer.add(key.credential)
    writer.add(UInt64(response.status.code))
    // Converting a date to another epoch changes its last bits, which could make a response stale too early.
    writer.add(response.requestTime.timeIntervalSinceReferenceDate.bitPattern)
    writer.add(response.responseTime.timeIntervalSinceReferenceDate.bitPattern)
    writer.add(response.isDecompressed ? 1 : 0)
    writer.add(response.headers)
    writer.add(response.selecting)
    return writer.data
  }

  init?(_ bytes: Data) {
    var reader = ByteReader(bytes)
    guard let url = reader.text(), let credential = reader.text(), let status = reader.number(), status < 1000,
      let requestTime = reader.number(), let responseTime = reader.number(), let isDecompressed = reader.number(),
      let headers = reader.headers(), let selecting = reader.headers(), reader.isAtEnd
    else { return nil }
    key = CacheKey(url: url, credential: credential)
    let times = [requestTime, responseTime].map { Double(bitPattern: $0) }
    guard times.allSatisfy({ $0.isFinite && abs($0) < 1e12 }) else { return nil }
    response = StoredResponse(
      status: HTTPStatus(Int(status)), headers: headers, requestTime: Date(timeIntervalSinceReferenceDate: times[0]),
      responseTime: Date(timeIntervalSinceReferenceDate: times[1]), selecting: selecting,
      isDecompressed: isDecompressed == 1)
  }
}

private struct ByteWriter {
  var data = Data()

  mutating func add(_ number: UInt64) {
    withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) }
  }

  mutating func add(_ text: String) {
    add(UInt64(text.utf8.count))
    data.append(contentsOf: text.utf8)
  }

  mutating func add(_ headers: HTTPHeaders) {
    add(UInt64(headers.count))
    for field in headers {
      add(field.name.rawName)
      add(field.value)
    }
  }
}

private struct ByteReader {
  private let bytes: Data
  private var rest: Int { bytes.endIndex - index }
  private var index: Int

  init(_ bytes: Data) {
    self.bytes = bytes
    index = bytes.startIndex
  }

  var isAtEnd: Bool { rest == 0 }

  mutating func number() -> UInt64? {
    guard rest >= 8 else { return nil }
    defer { index += 8 }
    return bytes.number(at: index - bytes.startIndex)
  }

  mutating func text() -> String? {
    guard let count = number(), count <= UInt64(rest) else { return nil }
    defer { index += Int(count) }
    return String(data: bytes[index..<(index + Int(count))], encoding: .utf8)
  }

  mutating func headers() -> HTTPHeaders? {
    // A field takes at least 16 bytes, so a damaged count can't cause a large allocation.
    guard let count = number(), count <= UInt64(rest / 16) else { return nil }
    var fields: [HTTPHeaders.Field] = []
    for _ in 0..<count {
      guard let name = text(), let value = text() else { return nil }
      fields.append(.init(HTTPHeaderName(name), value))
    }
    return HTTPHeaders(fields)
  }
}

extension Data {
  /// Returns the little-endian 64-bit integer at an offset from the start.
  func number(at offset: Int) -> UInt64 {
    withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
  }
}
