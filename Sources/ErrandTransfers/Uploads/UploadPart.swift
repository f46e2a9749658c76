import Errand
import ErrandFoundation

/// A single request of an upload: the upload's task with a different URL, method, headers and body. It uses the task's
/// server, name, preflight and settings.
struct UploadPart: ServerTask {
  enum Content: Sendable {
    /// The body of the task.
    case own
    case none
    case piece(UploadPiece, of: URL)
    /// A chunk held in memory.
    case bytes(Data)

    var isChunk: Bool {
      switch self {
      case .piece, .bytes: true
      case .own, .none: false
      }
    }
  }

  private let base: TaskPlan
  let url: URL
  /// The location returned by the server. `nil` if the request goes to the task's URL.
  private let place: LinkedURL?
  private let content: Content
  let headers: HTTPHeaders

  private let isTrusted: Bool

  /// Creates a request to `place`, or to the task's `url` if `place` is `nil`. `isTrusted` is `true` if the task's own
  /// headers and credentials may be sent there.
  init(
    _ base: TaskPlan, _ request: UploadRequest, to url: URL, at place: LinkedURL? = nil, _ content: Content,
    isTrusted: Bool
  ) {
    self.base = base
    self.url = url
    self.place = place
    self.content = content
    self.isTrusted = isTrusted
    var headers = isTrusted ? base.headers : [:]
    if case .own = content {} else { headers.removeFraming() }
    headers.remove(.idempotencyKey)  // the key belongs to the starting request
    headers.replace(with: request.headers)
    self.headers = headers
  }

  var server: Server { base.server }
  var taskTag: String { base.taskTag }
  var plannedParameters: (any Encodable & Sendable)? {
    if case .own = content { base.task.plannedParameters } else { nil }
  }

  func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
    switch content {
    case .own: return try await base.task.uploadBody(encoder: encoder)
    case .none: return .empty
    case .bytes(let data): return data.isEmpty ? .empty : .bytes(data)
    case .piece(let piece, let file):
      guard piece.count > 0 else { return .empty }
      return try .file(file, bytes: ByteRange(Int(piece.offset)..<Int(piece.offset + piece.count)))
    }
  }

  func preflight(_ request: inout HTTPRequest) async throws {
    if isTrusted { try await base.task.preflight(&request) }
  }

  /// Returns the plan of the request. It has no automatic retries, because the upload itself retries.
  func plan(_ method: HTTPMethod, deadline: Duration?) -> TaskPlan {
    var plan = base
    (plan.task, plan.name) = (self, base.taskName)
    plan.changes = []
    plan.httpMethod = method
    plan.headers = headers
    if !isTrusted {
      plan.keepServersTokens()
      plan.isCrossOrigin = true
      if plan.cookiePolicy.statesCookies { plan.cookiePolicy = .none }
    }
    (plan.linkedURL, plan.addedQuery) = (place, [:])  // the URL already contains the task's query
    plan.acceptedStatuses = .all
    plan.retryPolicy = .never
    plan.redirectPolicy = .refuse
    plan.cachePolicy = .none
    plan.hedging = .none
    plan.gzipUploadThreshold = .max
    // Never resend a chunk before asking the server for its position, not even on a new connection, because part of the
    // chunk may have arrived. The starting request already has its idempotency key in the headers.
    if content.isChunk {
      plan.idempotency = .neverRepeat
    } else if base.idempotency == .key {
      plan.idempotency = .automatic
    }
    plan.isChunk = content.isChunk
    if let deadline { plan.timeouts.call = deadline }
    return plan
  }
}
