/// The rules for what became of a task that was sent. Pure.
enum QueueRules {
  /// The failures that are not the task's. Where the network is a hotel's, its certificate is not the server's, and its answers are
  /// not either; what is wrong with a server's settings is mended by another release of the app.
  private static let passing: Set<TaskError.Code> = [
    .disabled, .noRemote, .unknownRemote, .badURL, .insecureScheme, .badLimit, .reentrantQueue, .queueFull,
    .circuitOpen, .unknownStep, .cannotResolveHost, .forbiddenAddress, .cannotConnect, .offline, .connectionLost,
    .secureConnectionFailed, .untrustedServer, .pinMismatch, .authenticationFailed, .signInRequired,
    .proxyAuthenticationRequired, .proxyRefused, .timedOut, .badResponse, .truncatedBody, .transportUnavailable,
    .tooManyRedirects, .badRedirect, .notCached, .notRecorded, .fileNotWritable, .internal,
  ]
  /// The statuses of the 4xx for a client that is to sign in, wait or come by another way.
  private static let passingStatuses: Set<Int> = [401, 407, 408, 421, 423, 425, 429]

  /// True where a task stays in its queue after an error: a later run may deliver it. What a server refuses will be refused again, a
  /// mistake in the task is one for ever, and a code of the app's own is its word on the answer; other errors of its code, as of
  /// a hook that cannot read a key, tell nothing of the task, nor does the failure of a call that a hook has made.
  static func stays(after error: any Error) -> Bool {
    guard let error = error as? TaskError, !error.isOfAnotherCall else { return true }
    guard error.code == .badStatus, let status = error.status?.code else { return passing.contains(error.code) }
    return (300..<400).contains(status) || status >= 500 || passingStatuses.contains(status)
  }

  /// True where a redirect made a GET of the task's POST, as to a page where people sign in: the answer tells nothing of the task.
  static func strays(_ response: HTTPResponse) -> Bool {
    response.redirects.contains { $0.method == .post && ($0.status.code == 301 || $0.status.code == 302) }
  }
}
