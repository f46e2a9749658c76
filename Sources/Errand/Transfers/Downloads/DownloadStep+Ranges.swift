extension DownloadStep {
  /// The step after a response to the first range of a file of which nothing is known.
  ///
  /// Only a strong tag and the length of the whole allow for several ranges: each of the others is requested, and checked, by both.
  static func afterFirst(_ status: HTTPStatus, _ headers: HTTPHeaders, asked: Asked) -> DownloadStep {
    switch status.code {
    case 206: first(headers, asked)
    // RFC 9110 §15.5.17: of an empty file each range is behind the end.
    case 416: .restart
    default: afterRest(status, headers, asked: Asked(offset: 0, end: asked.end))
    }
  }

  private static func first(_ headers: HTTPHeaders, _ asked: Asked) -> DownloadStep {
    guard let validator = DownloadValidator(headers), validator.kind == .eTag, coding(headers) == nil,
      let (end, total) = range(headers, asked)
    else { return .restart }
    return .split(validator, end: end, total: total)
  }

  /// The step after a response to one of several ranges: `append` where it is the one that was asked for, of the same version and
  /// length, and `restart` where it is anything else that a server may send in its place.
  static func afterRange(_ status: HTTPStatus, _ headers: HTTPHeaders, asked: Asked) -> DownloadStep {
    switch status.code {
    case 200, 203, 412, 416: return .restart
    case 206:
      if let coding = coding(headers) { return .refuse(packed(coding)) }
      guard !asked.isOther, asked.validator?.isOf(headers) == true, let (end, total) = range(headers, asked),
        total == asked.total
      else { return .restart }
      return .append(end: end, total: total)
    default: return afterRest(status, headers, asked: asked)
    }
  }

  /// The position behind the last byte of a part that begins where it was asked for, and the length of the whole.
  private static func range(_ headers: HTTPHeaders, _ asked: Asked) -> (end: Int64, total: Int64)? {
    guard let part = ContentRange(headers), let total = part.length,
      Int64(part.positions.lowerBound) == asked.offset, Int64(part.positions.upperBound) < asked.end ?? .max,
      !headers.contains(.contentLength) || headers.number(.contentLength) == Int64(part.positions.count)
    else { return nil }
    return (Int64(part.positions.upperBound) + 1, Int64(total))
  }
}
