import Errand

/// Determines which failed tasks stay in the queue.
enum QueueRules {
  /// Failures that are not caused by the task. Behind a captive portal, certificates and responses do not come from the
  /// server. An app update can fix wrong server settings.
  private static let passing: Set<TaskError.Code> = [
    .disabled, .noRemote, .unknownRemote, .badURL, .insecureScheme, .badLimit, .reentrantQueue, .queueFull,
    .circuitOpen, .unknownStep, .cannotResolveHost, .forbiddenAddress, .cannotConnect, .offline, .connectionLost,
    .secureConnectionFailed, .untrustedServer, .pinMismatch, .authenticationFailed, .signInRequired,
    .proxyAuthenticationRequired, .proxyRefused, .timedOut, .badResponse, .truncatedBody, .transportUnavailable,
    .tooManyRedirects, .badRedirect, .notCached, .notRecorded, .fileNotWritable, .internal,
  ]
  /// The temporary 4xx statuses: the client has to sign in, wait or use another connection.
  private static let passingStatuses: Set<Int> = [401, 407, 408, 421, 423, 425, 429]

  /// Whether a task stays in its queue after an error, because a later attempt may succeed. Rejected and invalid tasks
  /// leave the queue, as do tasks that fail with a code defined by the app. A task stays if the error is not a
  /// `TaskError`, for example because a hook can't read a key, or if the error belongs to another call made by a
  /// hook.
  static func stays(after error: any Error) -> Bool {
    guard let error = error as? TaskError, !error.isFromAnotherCall else { return true }
    guard error.code == .badStatus, let status = error.status?.code else { return passing.contains(error.code) }
    return (300..<400).contains(status) || status >= 500 || passingStatuses.contains(status)
  }

  /// Whether a redirect changed the task's POST to a GET, for example for a sign-in page. If so, the response does not
  /// show whether the task was accepted.
  static func strays(_ response: HTTPResponse) -> Bool {
    response.redirects.contains { $0.method == .post && ($0.status.code == 301 || $0.status.code == 302) }
  }
}
