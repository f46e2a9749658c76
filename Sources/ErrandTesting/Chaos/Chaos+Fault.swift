public import Errand
import ErrandFoundation

extension Chaos {
  /// A kind of fault.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The response arrives late.
    case delay
    /// The status is 429, 500, 502, 503 or 504.
    case status
    /// The server never responds.
    case stall
    /// The body ends early.
    case cut
    /// The connection is reset before the response.
    case reset
    /// The response isn't HTTP.
    case garbage
  }

  /// The fault of a request.
  ///
  /// ``delay(_:)`` and ``cut(after:)`` change an answer. The other faults replace it: a route's closure isn't called, and
  /// no queued answer is used up.
  public enum Fault: Sendable, Hashable {
    /// The response arrives late.
    case delay(Duration)
    /// A response with this status and without a body.
    case status(HTTPStatus)
    /// The server never responds.
    case stall
    /// The body ends after this fraction of its bytes, from 0 to less than 1.
    case cut(after: Double)
    /// The connection is reset before the response.
    case reset
    /// The response isn't HTTP.
    case garbage
  }
}

extension Chaos.Fault {
  /// The answer that replaces the server's answer, or `nil` if the fault changes the server's answer.
  var replacement: MockAnswer? {
    switch self {
    case .status(let status): .status(status)
    case .stall: .hang
    case .reset: .reset
    case .garbage: .raw(Data("220 mail.test ESMTP\r\n".utf8))
    case .delay, .cut: nil
    }
  }

  /// Returns the answer with this delay, or with a body that ends early.
  func change(_ answer: MockAnswer) -> MockAnswer {
    switch self {
    case .delay(let delay): answer.after(answer.headDelay + delay)
    case .cut(let part): answer.cut(after: part)
    case .status, .stall, .reset, .garbage: answer
    }
  }
}
