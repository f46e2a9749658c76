import ErrandFoundation

/// The protocol tus 1.0 (https://tus.io/protocols/resumable-upload), with the extensions creation and termination.
public struct TusUpload: UploadDialect {
  /// The metadata of the upload, beside the file's name and type (`Upload-Metadata`).
  public var metadata: [String: String]

  /// The protocol.
  ///
  /// - Parameter metadata: The metadata beside the file's name, `filename`, and its type, `filetype`. Keys have neither spaces nor commas.
  public init(metadata: [String: String] = [:]) { self.metadata = metadata }

  /// `tus`.
  public var name: String { "tus" }
  /// True.
  public var endsWithLastByte: Bool { true }

  private func headers(_ more: HTTPHeaders = [:]) -> HTTPHeaders {
    var headers: HTTPHeaders = ["Tus-Resumable": "1.0.0"]
    headers.replace(with: more)
    return headers
  }

  /// POST with the length and the metadata.
  public func begin(_ source: UploadSource) -> UploadRequest {
    var all = ["filename": source.fileName, "filetype": source.type.essence]
    all.merge(metadata) { $1 }
    let pairs = all.sorted { $0.key < $1.key }.map { name, value in
      value.isEmpty ? name : "\(name) \(Data(value.utf8).base64EncodedString())"
    }
    return UploadRequest(
      .post,
      headers: headers([
        "Upload-Length": "\(source.length)", "Upload-Metadata": pairs.joined(separator: ","),
      ]))
  }

  /// The place in `Location` of a 201.
  public func begun(_ answer: UploadAnswer) throws -> UploadSession {
    guard answer.status == .created, let text = answer.headers[.location],
      let location = URL(string: text, relativeTo: answer.url)?.absoluteURL
    else {
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

  /// PATCH with the offset.
  public func send(_ piece: UploadPiece, of session: UploadSession) -> UploadRequest {
    UploadRequest(
      .patch,
      headers: headers([
        "Upload-Offset": "\(piece.offset)", .contentType: "application/offset+octet-stream",
      ]))
  }

  /// The position in `Upload-Offset`; what the server does not know any more is begun again.
  public func position(_ answer: UploadAnswer, after piece: UploadPiece?) -> UploadPosition {
    switch answer.status.code {
    case 404, 410: return .gone
    case 403 where piece == nil: return .gone  // tus 1.0, HEAD: of an upload that is not there
    // Another offset, a lock of a request that broke off, another checksum.
    case 409, 423, 460: return .unknown
    case 200..<300:
      guard let offset = answer.headers["Upload-Offset"].flatMap({ Int64($0) }), offset >= 0 else {
        return piece == nil ? .failed : .unknown
      }
      return .at(offset)
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
