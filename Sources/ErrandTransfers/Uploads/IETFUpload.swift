import Errand
import ErrandFoundation

/// The protocol of the IETF draft Resumable Uploads for HTTP (draft-ietf-httpbis-resumable-upload, interop version 8).
///
/// The protocol is still a draft. A server that implements a different version may reject the requests.
public struct IETFUpload: UploadDialect {
  /// Creates the dialect.
  public init() {}

  /// `ietf`.
  public var name: String { "ietf" }
  /// `false`, because the last chunk is marked with `Upload-Complete`.
  public var endsWithLastByte: Bool { false }

  private static let complete: HTTPHeaderName = "Upload-Complete"
  private static let offset: HTTPHeaderName = "Upload-Offset"

  private func headers(_ more: HTTPHeaders = [:]) -> HTTPHeaders {
    var headers: HTTPHeaders = ["Upload-Draft-Interop-Version": "8"]
    headers.replace(with: more)
    return headers
  }

  /// Returns a POST with the length and the media type, but no body.
  public func begin(_ source: UploadSource) -> UploadRequest {
    var own: HTTPHeaders = [Self.complete: "?0", .contentType: source.type.essence]
    if let length = source.length { own["Upload-Length"] = "\(length)" }
    return UploadRequest(.post, headers: headers(own), content: .none)
  }

  /// Returns a session with the location from `Location` and the limits from `Upload-Limit`.
  public func begun(_ answer: UploadAnswer) throws -> UploadSession {
    guard let location = try answer.url(in: .location) else {
      throw TaskError(
        .badResponse,
        "the server did not start an upload: \(answer.status) without Location. Check that the server supports resumable uploads at this URL",
        phase: .finishing)
    }
    let limits = Self.limits(answer.headers)
    return UploadSession(
      location: location, largestPiece: limits["max-append-size"], smallestPiece: limits["min-append-size"])
  }

  /// Returns the numbers in the `Upload-Limit` dictionary (RFC 9651 §3.2). Invalid numbers and 0 are ignored.
  private static func limits(_ headers: HTTPHeaders) -> [String: Int] {
    var limits: [String: Int] = [:]
    for member in FieldScanner.members(of: headers.values(for: "Upload-Limit")) {
      let value = member.prefix { $0 != ";" }
      guard let equals = value.firstIndex(of: "="),
        let number = Int(value[value.index(after: equals)...].trimmingBlanks), number > 0
      else { continue }
      limits[String(value[..<equals])] = number
    }
    return limits
  }

  /// Returns a HEAD request.
  public func query(_ session: UploadSession) -> UploadRequest { UploadRequest(.head, headers: headers()) }

  /// Returns a PATCH with the offset, and with a flag that marks the last chunk.
  public func send(_ piece: UploadPiece, of session: UploadSession) -> UploadRequest {
    var own: HTTPHeaders = [
      Self.offset: "\(piece.offset)", Self.complete: piece.isLast ? "?1" : "?0",
      .contentType: "application/partial-upload",
    ]
    if let length = piece.foundLength { own["Upload-Length"] = "\(length)" }
    return UploadRequest(.patch, headers: headers(own))
  }

  /// Returns the position from `Upload-Complete` and `Upload-Offset`.
  public func position(_ answer: UploadAnswer, after piece: UploadPiece?) -> UploadPosition {
    let isSuccess = answer.status.kind == .success
    // Draft, Upload Append: with `?1`, the server has received the complete upload. Sending more would not help.
    if Self.isTrue(answer.headers) { return isSuccess ? .finished : .rejected }
    let offset = answer.headers.number(Self.offset)
    switch answer.status.code {
    case 404, 410: return .gone
    case 409: return .unknown  // the offset differs from the server's
    case 200..<300:
      guard let piece else { return offset.map { .at($0) } ?? .failed }
      return piece.isLast ? .unknown : .at(offset ?? piece.offset + piece.count)
    default: return .failed
    }
  }

  private static func isTrue(_ headers: HTTPHeaders) -> Bool {
    headers.single(complete)?.prefix { $0 != ";" }.trimmingBlanks == "?1"
  }

  /// Returns a DELETE request.
  public func cancel(_ session: UploadSession) -> UploadRequest? { UploadRequest(.delete, headers: headers()) }
}

extension UploadDialect where Self == IETFUpload {
  /// The IETF draft Resumable Uploads for HTTP.
  public static var ietf: IETFUpload { IETFUpload() }
}

extension Substring {
  fileprivate var trimmingBlanks: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
