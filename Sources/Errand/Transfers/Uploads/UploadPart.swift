import ErrandFoundation

/// One request of an upload: the task of the upload with another address, method, header and body. Its server, name, preflight and
/// settings are those of the task.
struct UploadPart: ServerTask {
  enum Content: Sendable {
    /// What the task itself sends.
    case own
    case none
    case piece(UploadPiece, of: URL)
    /// A piece that is in memory.
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
  /// The place that the server has named; `nil` for a request to the URL of the task.
  private let place: LinkedURL?
  private let content: Content
  let headers: HTTPHeaders

  private let isHome: Bool

  /// A request.
  ///
  /// - Parameters:
  ///   - base: The plan of the task.
  ///   - request: The method, and the fields of the protocol.
  ///   - url: The URL of the task.
  ///   - place: The place that the server has named; `nil` to send the request to `url`.
  ///   - content: Its body.
  ///   - isHome: Whether it goes to an origin to which the task's own fields and credentials may go.
  init(
    _ base: TaskPlan, _ request: UploadRequest, to url: URL, at place: LinkedURL? = nil, _ content: Content,
    isHome: Bool
  ) {
    self.base = base
    self.url = url
    self.place = place
    self.content = content
    self.isHome = isHome
    var headers = isHome ? base.headers : [:]
    if case .own = content {} else { headers.removeFraming() }
    headers.remove(.idempotencyKey)  // which is that of the request that begins the upload
    headers.replace(with: request.headers)
    self.headers = headers
  }

  var server: Server { base.server }
  var taskTag: String { base.taskTag }
  /// Those of the task, where its body is sent too.
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
    if isHome { try await base.task.preflight(&request) }
  }

  /// The plan of the request: each attempt is one of the upload's own.
  func plan(_ method: HTTPMethod, deadline: Duration?) -> TaskPlan {
    var plan = base
    (plan.task, plan.name) = (self, base.taskName)
    plan.changes = []
    plan.httpMethod = method
    plan.headers = headers
    if !isHome {
      (plan.authentication, plan.isAway) = (.inherited, true)
      if plan.cookiePolicy.statesCookies { plan.cookiePolicy = .none }
    }
    (plan.linkedURL, plan.addedQuery) = (place, [:])  // the URL of the task has its query already
    plan.acceptedStatuses = .all
    plan.retryPolicy = .never
    plan.redirectPolicy = .refuse
    plan.cachePolicy = .none
    plan.hedging = .none
    plan.gzipUploadThreshold = .max
    // A piece of which some may have arrived is not sent once more before the server was asked, not even on a fresh connection. A key
    // is among the fields of the request that has one.
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
