/// The rules for tasks that could not be delivered. Pure.
enum QueueRules {
  private static let mended: Set<TaskError.Code> = [
    .disabled, .noRemote, .queueFull, .circuitOpen, .cannotResolveHost, .cannotConnect, .offline, .connectionLost,
    .timedOut, .truncatedBody, .secureConnectionFailed, .untrustedServer, .pinMismatch, .proxyAuthenticationRequired,
    .proxyRefused, .authenticationFailed, .signInRequired, .transportUnavailable, .internal,
  ]
  /// Those of a client that is to sign in, wait or come by another way.
  private static let statuses: Set<Int> = [401, 407, 408, 421, 423, 425, 429]

  /// True where a task stays in its queue after an error: a later run may deliver it. Where the network is a hotel's, its certificate is
  /// not the server's, and its answers are not either.
  static func stays(after error: any Error) -> Bool {
    if error is CancellationError { return true }
    guard let error = error as? TaskError else { return false }
    if error.code == .badStatus { return error.status.map { $0.code >= 500 || statuses.contains($0.code) } ?? false }
    return mended.contains(error.code)
  }
}
