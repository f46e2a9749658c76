import Errand

extension DownloadStep {
  /// Returns the step after a response to the first range request for an unknown file.
  ///
  /// A file is split only if the response contains a strong `ETag` and the total length, because both are needed to
  /// request and check the other ranges.
  static func afterFirst(_ status: HTTPStatus, _ headers: HTTPHeaders, asked: Asked) -> DownloadStep {
    switch status.code {
    case 206: first(headers, asked)
    // RFC 9110 §15.5.17: any range of an empty file is unsatisfiable.
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

  /// Returns the step after a response to a range request for a known file: `append` if the response contains the
  /// requested range of the same version and length, or `restart` for another valid response.
  static func afterRange(_ status: HTTPStatus, _ headers: HTTPHeaders, asked: Asked) -> DownloadStep {
    switch status.code {
    case 200, 203, 412, 416: return .restart
    case 206:
      if let coding = coding(headers) { return .refuse(compressed(coding)) }
      guard !asked.isOther, asked.validator?.isOf(headers) == true, let (end, total) = range(headers, asked),
        total == asked.total
      else { return .restart }
      return .append(end: end, total: total)
    default: return afterRest(status, headers, asked: asked)
    }
  }

  private static func range(_ headers: HTTPHeaders, _ asked: Asked) -> (end: Int64, total: Int64)? {
    guard let part = ContentRange(headers), let total = part.length,
      Int64(part.positions.lowerBound) == asked.offset, Int64(part.positions.upperBound) < asked.end ?? .max,
      !headers.contains(.contentLength) || headers.number(.contentLength) == Int64(part.positions.count)
    else { return nil }
    return (Int64(part.positions.upperBound) + 1, Int64(total))
  }
}
