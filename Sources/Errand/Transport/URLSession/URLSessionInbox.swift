#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    import Errand
    import Foundation
    import FoundationNetworking
  #else
    import Foundation
  #endif

  /// The unread part of a response, which URLSession fills and a single reader empties.
  struct URLSessionInbox {
    enum Reading<Value> {
      case take(Value)
      case wait
      case fail(any Error)

      var result: Result<Value, any Error>? {
        switch self {
        case .take(let value): .success(value)
        case .fail(let error): .failure(error)
        case .wait: nil
        }
      }
    }

    private let highWater: Int
    private let method: HTTPMethod
    private var head: HTTPURLResponse?
    private var pending = Data()
    private var received: Int64 = 0
    private var outcome: Result<Void, any Error>?
    /// Whether the transfer should pause until the reader has caught up.
    private(set) var wantsPause = false

    init(highWater: Int, method: HTTPMethod) {
      self.highWater = highWater
      self.method = method
    }

    // MARK: URLSession's side

    mutating func receive(head: HTTPURLResponse) {
      if outcome == nil { self.head = self.head ?? head }
    }

    mutating func receive(_ data: Data) {
      guard outcome == nil, !data.isEmpty else { return }
      received += Int64(data.count)
      if pending.isEmpty { pending = data } else { pending.append(data) }
      if pending.count >= highWater { wantsPause = true }
    }

    /// Ends the transfer. Buffered bytes can still be read. Only the first call has an effect.
    mutating func finish(_ failure: (any Error)?) {
      guard outcome == nil else { return }
      outcome = failure.map { .failure($0) } ?? verdict
      wantsPause = false
    }

    /// Abandons the transfer and discards buffered bytes. Returns `false` if there was nothing left to abandon.
    mutating func abandon(_ error: any Error) -> Bool {
      switch outcome {
      case .failure where pending.isEmpty: return false
      case .success where pending.isEmpty: return false
      default: break
      }
      pending = Data()
      outcome = .failure(error)
      wantsPause = false
      return true
    }

    var isOver: Bool { outcome != nil }

    // MARK: The reader's side

    func readHead() -> Reading<HTTPURLResponse> {
      if let head { return .take(head) }
      if case .failure(let error) = outcome { return .fail(error) }
      return .wait
    }

    mutating func read() -> Reading<Data?> {
      if !pending.isEmpty {
        defer { pending = Data() }
        wantsPause = false
        return .take(pending)
      }
      switch outcome {
      case .success: return .take(nil)
      case .failure(let error): return .fail(error)
      case nil: return .wait
      }
    }

    /// Whether the body is shorter than `Content-Length`. `false` for a decoded body, whose original length is unknown.
    var isShort: Bool {
      guard let head, method != .head, !HTTPStatus(head.statusCode).isWithoutBody,
        !HTTPHeaders(unordered: ["Content-Encoding": head.value(forHTTPHeaderField: "Content-Encoding") ?? ""])
          .isCompressed,
        let length = head.value(forHTTPHeaderField: "Content-Length").flatMap({ Int64($0) })
      else { return false }
      return received < length
    }

    private var verdict: Result<Void, any Error> {
      if head == nil {
        return .failure(TaskError(.badResponse, "the transfer ended without a response", phase: .awaitingResponse))
      }
      return isShort ? .failure(Self.short) : .success(())
    }

    static let short = TaskError(
      .truncatedBody, "the connection was closed before the end of the body, \(TaskError.Phase.receiving.rawValue)",
      phase: .receiving)
  }

  extension HTTPStatus {
    /// Whether responses with this status never have a body, regardless of their header (RFC 9110 §6.4.1).
    fileprivate var isWithoutBody: Bool { code == 204 || code == 304 }
  }
#endif
