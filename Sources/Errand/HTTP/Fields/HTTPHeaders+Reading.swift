/// Reads fields that should occur only once. Proxies and frameworks sometimes repeat them.
extension HTTPHeaders {
  /// Returns the value of a single-valued field, or `nil` if the field is missing or repeated with different values.
  package func single(_ name: HTTPHeaderName) -> String? {
    let lines = values(for: name)
    guard let first = lines.first, lines.dropFirst().allSatisfy({ $0.hasSameBytes(as: first) }) else { return nil }
    return first
  }

  /// Returns the number in a field such as `Content-Length`, or `nil` if it is missing, malformed or longer than 18
  /// digits. A list that repeats the same number is valid (RFC 9110 §8.6).
  package func number(_ name: HTTPHeaderName) -> Int64? {
    guard let text = self[name] else { return nil }
    if let number = ByteRange.position(text[...]) { return Int64(number) }
    let numbers = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
      ByteRange.position(Substring($0).trimmingSpaces())
    }
    guard let first = numbers.first, let number = first, numbers.allSatisfy({ $0 == number }) else { return nil }
    return Int64(number)
  }

  /// The media type of the body, or `nil` if it is missing or invalid. If there are several,
  /// ``MediaType/extracted(from:)`` selects one as specified in the Fetch Standard.
  package var mediaType: MediaType? {
    guard let value = self[.contentType], !value.isEmpty else { return nil }
    let isList = value.utf8.contains(UInt8(ascii: ",")) || value.utf8.first == UInt8(ascii: "*")
    return isList ? MediaType.extracted(from: value) : MediaType(value)
  }

  /// The first `Content-Disposition` field, or `nil` if it is missing or invalid.
  var contentDisposition: ContentDisposition? {
    values(for: .contentDisposition).first.flatMap { ContentDisposition($0) }
  }
}
