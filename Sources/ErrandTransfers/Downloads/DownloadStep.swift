import Errand

/// The next step of a download after a response's headers have arrived.
enum DownloadStep: Equatable {
  /// Append the body up to `end`. `total` is the full length, if known.
  case append(end: Int64, total: Int64?)
  /// The body is the first range, up to `end`, of a file with this version and length. The rest can be split.
  case split(DownloadValidator, end: Int64, total: Int64)
  /// The body is the entire file. Discard the current content.
  case replace(length: Int64?)
  /// The partial file is complete.
  case finished
  /// Discard the partial file and request the entire file.
  case restart
  /// Build and sign the task again, and continue at the same position.
  case renew
  /// Fail with the response's own error.
  case fail
  /// Fail with this reason, because the response does not match the request.
  case refuse(String)

  struct Asked: Equatable {
    /// The number of bytes present, which is the start of the requested range. 0 requests the entire file.
    var offset: Int64
    var validator: DownloadValidator?
    var total: Int64?
    /// The position after the last requested byte. `nil` requests everything from `offset` to the end.
    var end: Int64?
    /// Whether the requested content is different from the content in the journal.
    var isOther = false

    /// The value of the `Range` field. `nil` to request the entire file.
    var range: String? {
      if let end { return "bytes=\(offset)-\(end - 1)" }
      return offset > 0 && validator != nil ? "bytes=\(offset)-" : nil
    }
  }

  static func after(_ status: HTTPStatus, _ headers: HTTPHeaders, asked: Asked) -> DownloadStep {
    if asked.end != nil {
      return asked.validator == nil
        ? afterFirst(status, headers, asked: asked) : afterRange(status, headers, asked: asked)
    }
    return afterRest(status, headers, asked: asked)
  }

  /// Returns the step after a response to a request for the entire file or for all missing bytes.
  static func afterRest(_ status: HTTPStatus, _ headers: HTTPHeaders, asked: Asked) -> DownloadStep {
    switch status.code {
    case 200, 203: whole(status, headers, asked)
    case 206: part(headers, asked)
    case 204, 205: .refuse("the response has no body")
    case 401, 403: .renew
    // RFC 9110 §15.5.13: some servers respond with 412 if the `If-Range` condition fails.
    case 412 where asked.offset > 0: .restart
    case 416 where asked.offset > 0: unsatisfied(headers, asked)
    case 200..<300: .refuse("the response contains neither the whole file nor a range")
    default: .fail
    }
  }

  private static func whole(_ status: HTTPStatus, _ headers: HTTPHeaders, _ asked: Asked) -> DownloadStep {
    // RFC 9110 §14.4: `Content-Range` has no meaning in a 200. However, some servers send a range with status 200.
    if asked.range != nil, let part = ContentRange(headers), part.positions.count != part.length { return .restart }
    if let coding = coding(headers) { return .refuse(compressed(coding)) }
    return .replace(length: headers.number(.contentLength))
  }

  private static func part(_ headers: HTTPHeaders, _ asked: Asked) -> DownloadStep {
    guard asked.offset > 0 else { return .refuse("the server sent a range, but the whole file was requested") }
    if let coding = coding(headers) { return .refuse(compressed(coding)) }
    guard !asked.isOther, asked.validator?.isOf(headers) == true, let part = ContentRange(headers),
      Int64(part.positions.lowerBound) == asked.offset
    else { return .restart }
    let total = part.length.map { Int64($0) }
    if let total, let known = asked.total, total != known { return .restart }
    let end = Int64(part.positions.upperBound) + 1
    guard asked.total.map({ end <= $0 }) ?? true else { return .restart }
    return .append(end: end, total: total ?? asked.total)
  }

  // RFC 9110 §15.5.17: the range starts after the end of the file. Because of `If-Range`, the version is the same.
  private static func unsatisfied(_ headers: HTTPHeaders, _ asked: Asked) -> DownloadStep {
    guard !asked.isOther, let length = ContentRange.completeLength(headers), Int64(length) == asked.offset,
      asked.total.map({ $0 == asked.offset }) ?? true
    else { return .restart }
    // Unlike a 206, a 416 may omit the validator. If it is present, it must match.
    let isSame = !headers.contains(.eTag) || asked.validator?.isOf(headers) == true
    return isSame ? .finished : .restart
  }

  /// Returns the content coding that `download(to:)` would decompress, or `nil` if it would write the body unchanged.
  static func coding(_ headers: HTTPHeaders) -> String? {
    headers.isCompressed ? headers[.contentEncoding] : nil
  }

  static func compressed(_ coding: String) -> String {
    "the body is compressed with \(coding.shortened) although Accept-Encoding is identity, so its ranges can't be combined: use download(to:), which decompresses it"
  }
}
