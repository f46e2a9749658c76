import ErrandFoundation

/// The protocol tus 1.0 (https://tus.io/protocols/resumable-upload), with the extensions creation, deferred length, checksum and
/// termination.
public struct TusUpload: UploadDialect {
  /// The use of checksums of pieces.
  public enum Checksums: Sendable, Hashable {
    /// None.
    case none
    /// One of each piece, where the server offers an algorithm of ``UploadChecksum``: it is asked once, with OPTIONS.
    case whereOffered
  }

  /// The metadata of the upload, beside the file's name and type (`Upload-Metadata`).
  public var metadata: [String: String]
  /// The use of checksums.
  public var checksums: Checksums

  /// The protocol.
  ///
  /// - Parameters:
  ///   - metadata: The metadata beside the file's name, `filename`, and its type, `filetype`. Keys have neither spaces nor commas.
  ///   - checksums: The use of checksums of pieces. Each piece is read twice then.
  public init(metadata: [String: String] = [:], checksums: Checksums = .none) {
    self.metadata = metadata
    self.checksums = checksums
  }

  /// `tus`.
  public var name: String { "tus" }
  /// True.
  public var endsWithLastByte: Bool { true }

  private func headers(_ more: HTTPHeaders = [:]) -> HTTPHeaders {
    var headers: HTTPHeaders = ["Tus-Resumable": "1.0.0"]
    headers.replace(with: more)
    return headers
  }

  /// OPTIONS, where checksums are wanted.
  public func inquiry() -> UploadRequest? {
    // tus 1.0, OPTIONS: the one request without Tus-Resumable.
    checksums == .none ? nil : UploadRequest(.options, headers: [:], content: .none)
  }

  /// The best of the algorithms in `Tus-Checksum-Algorithm`.
  public func checksum(by answer: UploadAnswer) -> UploadChecksum? {
    let extensions = FieldScanner.members(of: answer.headers.values(for: "Tus-Extension"))
    guard extensions.contains("checksum") else { return nil }
    let names = FieldScanner.members(of: answer.headers.values(for: "Tus-Checksum-Algorithm"))
    return UploadChecksum.allCases.first { names.contains($0.rawValue) }
  }

  /// POST with the length, or that it follows, and the metadata.
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

  /// The place in `Location` of a 201.
  public func begun(_ answer: UploadAnswer) throws -> UploadSession {
    guard answer.status == .created, let location = try answer.url(in: .location) else {
      throw TaskError(
        .badResponse,
        "\(answer.status) begins no upload: a tus server answers with 201 and a Location",
        phase: .finishing)
    }
    return UploadSession(location: location)
  }

  /// HEAD.
  public func query(_ session: UploadSession) -> UploadRequest {
    UploadRequest(.head, headers: headers())
  }

  /// PATCH with the offset, the length where it was found with this piece, and the checksum.
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

  /// The position in `Upload-Offset`; what the server does not know any more is begun again.
  public func position(_ answer: UploadAnswer, after piece: UploadPiece?) -> UploadPosition {
    switch answer.status.code {
    case 404, 410: return .gone
    // Another offset, a lock of a request that broke off, another checksum.
    case 409, 423, 460: return .unknown
    case 200..<300:
      if let offset = answer.headers.number("Upload-Offset") { return .at(offset) }
      guard let piece else { return .failed }
      // Without the field that every answer of the protocol has it is perhaps not the server's.
      return piece.isLast && answer.headers.contains("Tus-Resumable") ? .taken : .unknown
    default: return .failed
    }
  }

  /// DELETE.
  public func cancel(_ session: UploadSession) -> UploadRequest? {
    UploadRequest(.delete, headers: headers())
  }
}

extension UploadDialect where Self == TusUpload {
  /// The protocol tus 1.0.
  public static var tus: TusUpload { TusUpload() }
}
