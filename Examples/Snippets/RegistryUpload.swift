import Errand
import ErrandTransfers
import Foundation

/// The upload protocol of Docker registries.
struct RegistryUpload: UploadDialect {
  let name = "registry"
  let endsWithLastByte = false
  let contentChecksum: UploadChecksum? = .sha256

  func begin(_ source: UploadSource) -> UploadRequest { UploadRequest(.post, content: .none) }

  func begun(_ answer: UploadAnswer) throws -> UploadSession {
    guard let location = try answer.url(in: .location) else {
      throw TaskError(.badResponse, "the registry did not start an upload", phase: .finishing)
    }
    return UploadSession(location: location)
  }

  func query(_ session: UploadSession) -> UploadRequest { UploadRequest(.get) }

  func send(_ piece: UploadPiece, of session: UploadSession) -> UploadRequest {
    guard let digest = piece.contentDigest else {  // only the last piece has the file's digest
      let range = "\(piece.offset)-\(piece.offset + piece.count - 1)"
      return UploadRequest(.patch, headers: [.contentRange: range, .contentType: "application/octet-stream"])
    }
    let text = digest.map { String(format: "%02x", $0) }.joined()
    return UploadRequest(.put, query: ["digest": "sha256:\(text)"], headers: [.contentType: "application/octet-stream"])
  }

  func position(_ answer: UploadAnswer, after piece: UploadPiece?) -> UploadPosition {
    switch answer.status {
    case .created: return .finished
    case .accepted, .noContent:
      let last = answer.headers[.range]?.split(separator: "-").last.flatMap { Int64($0) } ?? 0
      return .at(last == 0 ? 0 : last + 1, location: try? answer.url(in: .location))
    case .notFound: return .gone
    default: return .failed
    }
  }

  func cancel(_ session: UploadSession) -> UploadRequest? { UploadRequest(.delete) }
}

struct AddBlob: ServerPOSTTask {
  let repository: String
  var path: String { "v2/\(repository)/blobs/uploads/" }
  var idempotency: Idempotency { .safeToRepeat }  // the digest identifies a blob
}

func push(_ layer: URL, to registry: Server) async throws {
  let upload = ResumableUpload(of: layer, with: AddBlob(repository: "team/app").on(registry), by: RegistryUpload())
  try await upload.run()
}
