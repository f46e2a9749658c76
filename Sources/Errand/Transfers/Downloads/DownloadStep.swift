/// The next step of a download after the head of a response. Pure.
enum DownloadStep: Equatable {
  /// The body goes behind what is there, up to that position; the length of the whole, where it is known.
  case append(end: Int64, total: Int64?)
  /// The body is the first part, up to that position, of a file of that version and length, which can come in several ranges.
  case split(DownloadValidator, end: Int64, total: Int64)
  /// The body is the whole: what is there is forgotten.
  case replace(length: Int64?)
  /// What is there is all.
  case finished
  /// What is there is dropped, and the whole is requested.
  case restart
  /// The task is built and signed anew, and goes on where it was.
  case renew
  /// The response is an error as it is.
  case fail
  /// The response is no answer to the request, for this reason.
  case refuse(String)

  /// What was asked for.
  struct Asked: Equatable {
    /// The bytes that are there: the range begins behind them. At 0 the whole is requested.
    var offset: Int64
    /// The version; nil where nothing is known of it.
    var validator: DownloadValidator?
    var total: Int64?
    /// The position behind the last byte that is requested, where one range of several is; nil for all that follow.
    var end: Int64?
    /// True where the response is to the request for something else than the journal is about.
    var isOther = false

    /// The value of `Range`; nil where the whole is requested.
    var range: String? {
      if let end { return "bytes=\(offset)-\(end - 1)" }
      return offset > 0 && validator != nil ? "bytes=\(offset)-" : nil
    }
  }

  /// The step after a response.
  static func after(_ status: HTTPStatus, _ headers: HTTPHeaders, asked: Asked) -> DownloadStep {
    if asked.end != nil {
      return asked.validator == nil
        ? afterFirst(status, headers, asked: asked) : afterRange(status, headers, asked: asked)
    }
    return afterRest(status, headers, asked: asked)
  }

  /// The step after a response to a request for the whole, or for all that is missing.
  static func afterRest(_ status: HTTPStatus, _ headers: HTTPHeaders, asked: Asked) -> DownloadStep {
    switch status.code {
    case 200, 203: whole(status, headers, asked)
    case 206: part(headers, asked)
    case 204, 205: .refuse("there is no body")
    case 401, 403: .renew
    // RFC 9110 §15.5.13: some servers answer so where If-Range does not hold.
    case 412 where asked.offset > 0: .restart
    case 416 where asked.offset > 0: unsatisfied(headers, asked)
    case 200..<300: .refuse("it is neither the whole nor a part")
    default: .fail
    }
  }

  private static func whole(_ status: HTTPStatus, _ headers: HTTPHeaders, _ asked: Asked) -> DownloadStep {
    // RFC 9110 §14.4: the field means nothing with a 200. After a Range it gives away a server that sends a part so.
    if asked.range != nil, let part = ContentRange(headers), part.positions.count != part.length { return .restart }
    if let coding = coding(headers) { return .refuse(packed(coding)) }
    return .replace(length: headers.number(.contentLength))
  }

  private static func part(_ headers: HTTPHeaders, _ asked: Asked) -> DownloadStep {
    guard asked.offset > 0 else { return .refuse("a part was sent, though the whole was asked for") }
    if let coding = coding(headers) { return .refuse(packed(coding)) }
    guard !asked.isOther, asked.validator?.isOf(headers) == true, let part = ContentRange(headers),
      Int64(part.positions.lowerBound) == asked.offset
    else { return .restart }
    let total = part.length.map { Int64($0) }
    if let total, let known = asked.total, total != known { return .restart }
    let end = Int64(part.positions.upperBound) + 1
    guard asked.total.map({ end <= $0 }) ?? true else { return .restart }
    return .append(end: end, total: total ?? asked.total)
  }

  // RFC 9110 §15.5.17: a range behind the end; with If-Range, of the version that it names.
  private static func unsatisfied(_ headers: HTTPHeaders, _ asked: Asked) -> DownloadStep {
    guard !asked.isOther, let length = ContentRange.completeLength(headers), Int64(length) == asked.offset,
      asked.total.map({ $0 == asked.offset }) ?? true
    else { return .restart }
    // Unlike a 206 it need not have the validator; one that it has must be the same.
    let isSame = !headers.contains(.eTag) || asked.validator?.isOf(headers) == true
    return isSame ? .finished : .restart
  }

  /// The codings of a body that `download(to:)` would decompress; `nil` for a body that it would write as it came.
  static func coding(_ headers: HTTPHeaders) -> String? {
    headers.isCompressed ? headers[.contentEncoding] : nil
  }

  static func packed(_ coding: String) -> String {
    "the body is compressed with \(coding.shortened), although Accept-Encoding is identity, so parts of it can't be put together: use download(to:), which decompresses it"
  }
}
