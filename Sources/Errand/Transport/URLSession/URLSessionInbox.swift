#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    import Errand
    import Foundation
    import FoundationNetworking
  #else
    import Foundation
  #endif

  /// The part of a response that came and was not read yet: pure bookkeeping between URLSession, which fills it, and the
  /// one reader, who empties it.
  struct URLSessionInbox {
    /// The reader's next action.
    enum Reading<Value> {
      case take(Value)
      case wait
      case fail(any Error)

      /// The reader's result; nil where it must wait.
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
    /// True while the server is to wait until the reader has caught up.
    private(set) var wantsPause = false

    /// An inbox that wants a pause once it holds `highWater` bytes; the answer to a request of this method.
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

    /// Ends the transfer; what is buffered can still be read. The first end counts.
    mutating func finish(_ failure: (any Error)?) {
      guard outcome == nil else { return }
      outcome = failure.map { .failure($0) } ?? verdict
      wantsPause = false
    }

    /// The transfer is given up: what is buffered is not wanted any more. False when there was nothing left to give up.
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

    /// True when nothing more will come.
    var isOver: Bool { outcome != nil }

    // MARK: The reader's side

    func readHead() -> Reading<HTTPURLResponse> {
      if let head { return .take(head) }
      if case .failure(let error) = outcome { return .fail(error) }
      return .wait
    }

    /// All that is buffered, nil at the end.
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

    /// True when fewer bytes came than the head promised; a body that was decoded cannot be counted.
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

    /// The error for a body that is too short.
    static let short = TaskError(
      .truncatedBody, "the connection was closed before the end of the body, \(TaskError.Phase.receiving.rawValue)",
      phase: .receiving)
  }

  extension HTTPStatus {
    /// True when its responses have no body whatever their header says (RFC 9110 §6.4.1).
    fileprivate var isWithoutBody: Bool { code == 204 || code == 304 }
  }
#endif
