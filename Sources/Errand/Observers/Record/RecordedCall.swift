public import ErrandFoundation

/// The recording of a call: every request that was sent, the responses, and the timeline, with secrets hidden.
///
/// Recordings, echoes, pages and archives are created from recorded calls. To build your own tool, install a
/// ``CallRecorder`` or collect the calls with ``RecordedCalls``. Print a call to see the text of its recording. Parts
/// hidden by the task's ``RecordingStyle`` are not included.
public struct RecordedCall: Codable, Sendable, Hashable, Identifiable {
  /// A recorded call's outcome.
  public enum Conclusion: String, Codable, Sendable, Hashable {
    /// The call returned its result.
    case succeeded
    /// The call threw an error.
    case failed
    /// The call was cancelled.
    case cancelled
  }

  /// A moment of a call.
  public struct Moment: Codable, Sendable, Hashable {
    /// The time since the call started. Encoded in seconds.
    public var time: Duration
    /// The name of the moment's case, such as `attemptStarted`; see ``CallMoment``.
    public var kind: String
    /// A short description of the moment.
    public var text: String
  }

  /// The call's number, unique in the process.
  public var id: Int
  /// The name of the task's type.
  public var task: String
  /// The tag used to cancel calls together. `nil` if hidden.
  public var tag: String?
  /// The task's comment, if any.
  public var comment: String?
  /// The method of the last request, or of the request that would have been sent.
  public var method: HTTPMethod
  /// The URL of the last request. `nil` if nothing was requested or the URL is hidden.
  public var url: String?
  /// The status of the last response. `nil` if no response arrived.
  public var status: HTTPStatus?
  /// The call's outcome.
  public var outcome: Conclusion
  /// The error on one line. `nil` if the call did not fail or the error is hidden.
  public var failure: String?
  /// A stable name for the failure, which is never hidden: its ``TaskError/Code``, or the type of another error. `nil`
  /// if the call did not fail.
  public var errorType: String?
  /// The time at which the call started.
  public var startedAt: Date
  /// The time from the start of the call to its end. Encoded in seconds.
  public var duration: Duration
  /// The number of attempts.
  public var attemptCount: Int
  /// Whether everything that reveals the URL is hidden, including the failure and the moments.
  public var isHidden: Bool
  /// The requests, in order. An attempt has several requests if it was redirected or a step resent its request.
  public var exchanges: [Exchange]
  /// The response, without its body, if the call did not send a request. It can come from the cache, for example.
  public var answer: Response?
  /// The moments, in order. Empty if hidden.
  public var moments: [Moment]
  /// The most likely cause of a failure or a slow success, with advice. `nil` if there is nothing to report.
  public var diagnosis: Diagnosis?
}

// Swift only synthesizes `Codable` in the file that declares the type.
extension RecordedCall: CustomStringConvertible {
  /// The text of a recording: the outcome, every request and its response, and the timeline.
  public var description: String {
    var text = TextBytes(capacity: 1000)
    write(to: &text)
    return text.text
  }

  /// The time spent waiting for a slot, in all attempts. Zero if the moments are hidden.
  var timeInQueue: Duration {
    var (total, start) = (Duration.zero, Duration?.none)
    for moment in moments {
      switch moment.kind {
      case "queued": start = moment.time
      case "admitted", "leftQueue":
        if let start { total += moment.time - start }
        start = nil
      default: break
      }
    }
    return total
  }

  /// The approximate size in memory, in bytes.
  package var size: Int {
    let texts = moments.reduce(0) { $0 + $1.text.utf8.count + 48 }
    return exchanges.reduce(500 + texts) { $0 + $1.size }
  }
}
