public import Errand

/// Options for recording and replay: what is recorded, how requests are matched, and which secrets are hidden.
public struct ReplayOptions: Sendable {
  /// The requests that are sent to the network and recorded. Defaults to `.none`.
  public var recording = ReplayRecording.none
  /// The properties that a request must share with a recorded one, with secrets hidden. Defaults to the method and the
  /// URL.
  public var matching: Set<ReplayAspect> = [.method, .url]
  /// The order in which recorded responses are replayed. Defaults to `.anyOrder`.
  public var order = ReplayOrder.anyOrder
  /// The behavior when all of a request's recorded responses have been replayed. Defaults to `.last`.
  public var whenPlayed = ReplayRepetition.last
  /// The policy that hides secrets when a request is recorded or compared. Defaults to the server's redaction. For the
  /// requests in an existing recording, the default is `Redaction.standard`.
  public var redaction: Redaction?
  /// The maximum size of a recorded body, in bytes. Defaults to 16 MiB.
  public var maximumBodySize = 16 << 20
  /// The types of binary bodies to record, such as `application/x-protobuf`. Secrets in these bodies can't be found.
  /// Images, audio, video and fonts are always recorded.
  public var binaryTypes: Set<MediaType> = []

  /// Creates options that replay a recording and don't record anything.
  public init() {}

  /// Creates options that record these requests and replay all others.
  public init(recording: ReplayRecording) { self.recording = recording }

  func redaction(for request: HTTPRequest) -> Redaction {
    let redaction = redaction ?? ShownParts.of(request)?.redaction ?? .standard
    return redaction.hiding(request.options.credentialHeaders)
  }

  func keepsBytes(of type: MediaType?) -> Bool {
    type.map { type in binaryTypes.contains { $0.essence == type.essence } } ?? false
  }
}

/// The requests that are sent to the network and recorded.
public enum ReplayRecording: Sendable, Hashable, CaseIterable {
  /// No requests. Nothing is ever sent, and a request that has not been recorded fails.
  case none
  /// All requests if the file does not exist, otherwise none.
  case once
  /// Requests that have not been recorded yet. They are added to the file.
  case missing
  /// All requests. Nothing is replayed, and the file is replaced.
  case all
}

/// A property that a request must share with a recorded one.
public enum ReplayAspect: Sendable, Hashable {
  /// The method.
  case method
  /// The URL without its fragment: the origin, path and query.
  case url
  /// The scheme, host and port.
  case origin
  /// The path.
  case path
  /// The query items, in any order.
  case query
  /// The values of a header field.
  case header(HTTPHeaderName)
  /// The body. JSON is compared by value. A body that can be read only once never matches.
  case body
}

/// The order in which recorded responses are replayed.
public enum ReplayOrder: Sendable, Hashable {
  /// Each request gets the first matching response that has not been replayed yet, so the nth identical request gets
  /// the nth response.
  case anyOrder
  /// Requests must arrive in the recorded order. For sequential calls only, because concurrent calls have no fixed
  /// order.
  case asRecorded
}

/// The behavior when all of a request's recorded responses have been replayed.
public enum ReplayRepetition: Sendable, Hashable {
  /// The last recorded response is replayed, any number of times.
  case last
  /// No response is replayed. The request fails, or is recorded if missing requests are recorded.
  case none
}
