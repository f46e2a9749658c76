public import ErrandFoundation

/// A call as it is recorded, secrets hidden when it was made: every request that was sent, the responses, and the moments.
///
/// Recordings, echoes, pages and archives are made of it, and so may a tool of your own: install a ``CallRecorder``, or
/// keep the calls in a ``RecordedCalls``. Print it to see the text of a recording. What the task's ``RecordingStyle`` does not show
/// is not in it.
public struct RecordedCall: Codable, Sendable, Hashable, Identifiable {
  /// The outcome of a call in one word.
  public enum Conclusion: String, Codable, Sendable, Hashable {
    /// It gave its result.
    case succeeded
    /// It threw an error.
    case failed
    /// It was cancelled.
    case cancelled
  }

  /// A moment of a call.
  public struct Moment: Codable, Sendable, Hashable {
    /// The time since the call started; in seconds where it is encoded.
    public var time: Duration
    /// The name of the moment's case, such as `attemptStarted`; see ``CallMoment``.
    public var kind: String
    /// The moment in a few words.
    public var text: String
  }

  /// The call, by a number that is unique in the process.
  public var id: Int
  /// The name of the task's type.
  public var task: String
  /// The name by which calls are cancelled together; nil where it is not shown.
  public var tag: String?
  /// The task's comment; nil where there is none.
  public var comment: String?
  /// The method of the last request, or of the one that was never sent.
  public var method: HTTPMethod
  /// The URL of the last request; nil where there was none or it is not shown.
  public var url: String?
  /// The status of the last response; nil where none came.
  public var status: HTTPStatus?
  /// The outcome.
  public var outcome: Conclusion
  /// The error in one line; nil where there was none or it is not shown.
  public var failure: String?
  /// The start of the call.
  public var startedAt: Date
  /// From the start of the call to its end; in seconds where it is encoded.
  public var duration: Duration
  /// The number of attempts.
  public var attempts: Int
  /// True where nothing is shown that names the URL: no failure, no moments.
  public var isHidden: Bool
  /// The requests in the order in which they were made. An attempt has several where it is redirected, or a step sends again.
  public var exchanges: [Exchange]
  /// The response of a call that sent nothing, as from a cache, without its body.
  public var answer: Response?
  /// The moments in order; empty where they are not shown.
  public var moments: [Moment]
  /// The most likely cause of a failure, or of a success that took long; nil where there is nothing to say.
  public var diagnosis: Diagnosis?
}

// In the file of the type, or the compiler would not write the coding.
extension RecordedCall: CustomStringConvertible {
  /// The text of a recording: the outcome, every request and its response, and the timeline.
  public var description: String {
    var text = TextBytes(capacity: 1000)
    write(to: &text)
    return text.text
  }

  /// About the bytes that it takes in memory.
  var size: Int {
    let texts = moments.reduce(0) { $0 + $1.text.utf8.count + 48 }
    return exchanges.reduce(500 + texts) { $0 + $1.size }
  }
}
