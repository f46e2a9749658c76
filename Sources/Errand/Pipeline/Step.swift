/// A piece of the way between a manager and a transport: sees each request on its way out and each response on its
/// way back, and may change either, answer by itself, or send more than once.
///
/// A step says in its type where it belongs: conform to ``PerCallStep`` or ``PerAttemptStep``.
public protocol Step: Sendable {
  /// By what name other steps are placed before or after it; the name of its type unless stated.
  var name: String { get }

  /// Passes `request` on with `next` and returns the response.
  /// Throws what `next` throws, or an error of its own, which ends the attempt or the call.
  func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse
}

extension Step {
  /// The name of the type.
  public var name: String { "\(Self.self)" }
}

/// A step that sees a call once, however many attempts it takes.
public protocol PerCallStep: Step {}

/// A step that sees every attempt.
public protocol PerAttemptStep: Step {}

/// The rest of the way, as a step sees it.
public struct Next: Sendable {
  private let steps: ArraySlice<any Step>
  private let last: @Sendable (HTTPRequest) async throws -> HTTPResponse

  package init(_ steps: ArraySlice<any Step>, last: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) {
    self.steps = steps
    self.last = last
  }

  /// Sends `request` the rest of the way. May be called again, with the same request or another.
  public func callAsFunction(_ request: HTTPRequest) async throws -> HTTPResponse {
    guard let step = steps.first else { return try await last(request) }
    return try await step.send(request, next: Next(steps.dropFirst(), last: last))
  }
}
