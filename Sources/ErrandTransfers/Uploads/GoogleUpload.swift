import Errand
import ErrandFoundation

/// The resumable upload protocol of Google's services (`X-Goog-Upload-*`).
public struct GoogleUpload: UploadDialect {
  /// Creates the dialect.
  public init() {}

  /// `google`.
  public var name: String { "google" }
  /// `false`, because the last chunk is marked with `finalize`.
  public var endsWithLastByte: Bool { false }

  private static let command: HTTPHeaderName = "X-Goog-Upload-Command"
  private static let status: HTTPHeaderName = "X-Goog-Upload-Status"

  /// Returns a POST with the command `start`.
  public func begin(_ source: UploadSource) -> UploadRequest {
    var headers: HTTPHeaders = [
      "X-Goog-Upload-Protocol": "resumable", Self.command: "start", "X-Goog-Upload-Content-Type": source.type.essence,
    ]
    if let length = source.length { headers["X-Goog-Upload-Content-Length"] = "\(length)" }
    return UploadRequest(.post, headers: headers)
  }

  /// Returns a session with the location and the granularity from the response.
  public func begun(_ answer: UploadAnswer) throws -> UploadSession {
    let status = answer.headers.single(Self.status)?.lowercased() ?? "active"
    guard status == "active" else {
      throw TaskError(
        .badResponse,
        "the server did not start an upload: \(answer.status) with X-Goog-Upload-Status \(status.shortened)",
        phase: .finishing)
    }
    guard let location = try answer.url(in: "X-Goog-Upload-URL") else {
      throw TaskError(
        .badResponse,
        "the server did not start an upload: \(answer.status) without X-Goog-Upload-URL. Check that the server supports Google's protocol at this URL",
        phase: .finishing)
    }
    let granularity = answer.headers.number("X-Goog-Upload-Chunk-Granularity").map { Int($0) } ?? 1
    return UploadSession(location: location, granularity: granularity)
  }

  /// Returns a POST with the command `query`.
  public func query(_ session: UploadSession) -> UploadRequest {
    UploadRequest(.post, headers: [Self.command: "query"])
  }

  /// Returns a PUT with the command `upload`. For the last chunk, the command is `upload, finalize`, or `finalize` if
  /// no bytes are left.
  public func send(_ piece: UploadPiece, of session: UploadSession) -> UploadRequest {
    let command = piece.isLast ? piece.count == 0 ? "finalize" : "upload, finalize" : "upload"
    return UploadRequest(
      .put, headers: [Self.command: command, "X-Goog-Upload-Offset": "\(piece.offset)"])
  }

  /// Returns the position from `X-Goog-Upload-Status` and `X-Goog-Upload-Size-Received`.
  public func position(_ answer: UploadAnswer, after piece: UploadPiece?) -> UploadPosition {
    let isRefused = answer.status.kind != .success
    switch answer.headers.single(Self.status)?.lowercased() {
    case "final": return isRefused ? .failed : .finished
    case "cancelled": return .failed
    case "active" where answer.status != .notFound:
      // A rejected chunk may have been partially stored, so query the position.
      if isRefused { return piece.map { $0.count > 0 ? .unknown : .failed } ?? .failed }
      if let size = answer.headers.number("X-Goog-Upload-Size-Received") {
        return .at(size)
      }
      return piece.map { .at($0.offset + $0.count) } ?? .failed
    default: return .failed
    }
  }

  /// Returns a POST with the command `cancel`.
  public func cancel(_ session: UploadSession) -> UploadRequest? {
    UploadRequest(.post, headers: [Self.command: "cancel"])
  }
}

extension UploadDialect where Self == GoogleUpload {
  /// The resumable upload protocol of Google's services.
  public static var google: GoogleUpload { GoogleUpload() }
}
