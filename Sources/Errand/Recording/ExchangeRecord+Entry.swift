import Foundation

extension ExchangeRecord {
  /// The line of the index for the call: no more than the recording itself shows.
  func entry(
    _ plan: TaskPlan, _ method: HTTPMethod, _ url: String?, _ status: HTTPStatus?, _ outcome: CallOutcome,
    _ elapsed: Duration
  ) -> RecordingEntry {
    let isShown = plan.recordingStyle.contains(.url)
    // A call that failed has no final response, but its last attempt may have had one.
    let status = status ?? attempts.last?.response?.status
    return RecordingEntry(
      task: plan.taskName, tag: isShown ? plan.taskTag : nil,
      comment: isShown && !plan.comment.isEmpty ? plan.comment : nil, method: "\(method)", url: isShown ? url : nil,
      status: status?.code, outcome: outcome.word, startedAt: startedAt.formatted(RecordingEntry.dateFormat),
      seconds: elapsed.inSeconds, attempts: attempts.count)
  }
}

extension CallOutcome {
  /// The outcome in one word.
  var word: String {
    switch self {
    case .succeeded: "succeeded"
    case .failed: "failed"
    case .cancelled: "cancelled"
    }
  }
}
