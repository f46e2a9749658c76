import Errand
import ErrandFoundation

/// The tus 1.0 protocol (https://tus.io/protocols/resumable-upload) with its creation, deferred length, checksum and
/// termination extensions.
public struct TusUpload: UploadDialect {
  /// Whether chunks are sent with checksums.
  public enum Checksums: Sendable, Hashable {
    /// No checksums.
    case none
    /// A checksum for each chunk, if the server supports one of the algorithms in ``UploadChecksum``. Before the upload
    /// starts, an OPTIONS request asks for the supported algorithms.
    case whereOffered
  }

  /// The metadata of the upload (`Upload-Metadata`), in addition to the file name and type.
  public var metadata: [String: String]
  /// Whether chunks are sent with checksums.
  public var checksums: Checksums

  /// Creates the dialect.
  ///
  /// - Parameters:
  ///   - metadata: The metadata, in addition to the file name (`filename`) and type (`filetype`). Keys must not contain
  ///     spaces or commas. Defaults to none.
  ///   - checksums: Whether chunks are sent with checksums, which requires reading each chunk twice. Defaults to
  ///     `.none`.
  public init(metadata: [String: String] = [:], checksums: Checksums = .none) {
    self.metadata = metadata
    self.checksums = checksums
  }

  /// `tus`.
  public var name: String { "tus" }
  /// `true`.
  public var endsWithLastByte: Bool { true }

  private func headers(_ more: HTTPHeaders = [:]) -> HTTPHeaders {
    var headers: HTTPHeaders = ["Tus-Resumable": "1.0.0"]
    headers.replace(with: more)
    return headers
  }

  /// Returns an OPTIONS request if checksums are enabled, or `nil` otherwise.
  public func inquiry() -> UploadRequest? {
    // tus 1.0, OPTIONS: the only request without `Tus-Resumable`.
    checksums == .none ? nil : UploadRequest(.options, content: .none)
  }

  /// Returns the strongest supported algorithm listed in `Tus-Checksum-Algorithm`, or `nil` if the server supports
  /// none.
  public func checksum(by answer: UploadAnswer) -> UploadChecksum? {
    let extensions = FieldScanner.members(of: answer.headers.values(for: "Tus-Extension"))
    guard extensions.contains("checksum") else { return nil }
    let names = FieldScanner.members(of: answer.headers.values(for: "Tus-Checksum-Algorithm"))
    return UploadChecksum.allCases.first { names.contains($0.rawValue) }
  }

  /// Returns a POST with the metadata and the length, or with `Upload-Defer-Length` if the length is unknown.
  public func begin(_ source: UploadSource) -> UploadRequest {
    var all = ["filename": source.fileName, "filetype": source.type.essence]
    all.merge(metadata) { $1 }
    let pairs = all.sorted { $0.key < $1.key }.map { name, value in
      value.isEmpty ? name : "\(name) \(Data(value.utf8).base64EncodedString())"
    }
    var own: HTTPHeaders = ["Upload-Metadata": pairs.joined(separator: ",")]
    if let length = source.length { own["Upload-Length"] = "\(length)" } else { own["Upload-Defer-Length"] = "1" }
    return UploadRequest(.post, headers: headers(own))
  }

  /// Returns a session with the location from the `Location` field of a 201.
  public func begun(_ answer: UploadAnswer) throws -> UploadSession {
    guard answer.status == .created, let location = try answer.url(in: .location) else {
      throw TaskError(
        .badResponse,
        "the server did not start an upload: \(answer.status), but tus requires 201 with a Location",
        phase: .finishing)
    }
    return UploadSession(location: location)
  }

  /// Returns a HEAD request.
  public func query(_ session: UploadSession) -> UploadRequest {
    UploadRequest(.head, headers: headers())
  }

  /// Returns a PATCH with the offset, the checksum if one is used, and the length if it was unknown until now.
  public func send(_ piece: UploadPiece, of session: UploadSession) -> UploadRequest {
    var own: HTTPHeaders = [
      "Upload-Offset": "\(piece.offset)", .contentType: "application/offset+octet-stream",
    ]
    if let length = piece.foundLength { own["Upload-Length"] = "\(length)" }
    if let checksum = session.checksum, let digest = piece.digest {
      own["Upload-Checksum"] = "\(checksum.rawValue) \(digest.base64EncodedString())"
    }
    return UploadRequest(.patch, headers: headers(own))
  }

  /// Returns the position from `Upload-Offset`. After a 404 or 410, the upload starts over.
  public func position(_ answer: UploadAnswer, after piece: UploadPiece?) -> UploadPosition {
    switch answer.status.code {
    case 404, 410: return .gone
    // 409: the offset differs. 423: an interrupted request still holds the lock. 460: the checksum does not match.
    case 409, 423, 460: return .unknown
    case 200..<300:
      if let offset = answer.headers.number("Upload-Offset") { return .at(offset) }
      guard let piece else { return .failed }
      // Without `Tus-Resumable`, the response may not come from the tus server.
      return piece.isLast && answer.headers.contains("Tus-Resumable") ? .taken : .unknown
    default: return .failed
    }
  }

  /// Returns a DELETE request.
  public func cancel(_ session: UploadSession) -> UploadRequest? {
    UploadRequest(.delete, headers: headers())
  }
}

extension UploadDialect where Self == TusUpload {
  /// The tus 1.0 protocol.
  public static var tus: TusUpload { TusUpload() }
}
