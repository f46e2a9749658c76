/// The use of a recording: what is recorded, what a request has to have in common with a recorded one, and what is hidden.
public struct ReplayOptions: Sendable {
  /// The requests that go to the network and are recorded; none unless stated.
  public var recording = ReplayRecording.none
  /// The parts in which a request and a recorded one have to agree, secrets hidden; method and URL unless stated.
  public var matching: Set<ReplayAspect> = [.method, .url]
  /// The order in which recorded responses are played.
  public var order = ReplayOrder.anyOrder
  /// The answer to a request whose recorded responses were all played.
  public var whenPlayed = ReplayRepetition.last
  /// The secrets that are hidden where a request is recorded, and where one is compared; those of the server unless stated. A
  /// recording that is there hides what ``Redaction/standard`` does where nothing is stated.
  public var redaction: Redaction?
  /// The largest body that is recorded, in bytes.
  public var maximumBodySize = 16 << 20
  /// The types of bodies that are recorded although they are no text, in which no secret can be found: `application/x-protobuf`. Pictures,
  /// sound, films and fonts always are.
  public var binaryTypes: Set<MediaType> = []

  /// Plays what was recorded, and records nothing.
  public init() {}

  /// Records what is stated, and plays the rest.
  public init(recording: ReplayRecording) { self.recording = recording }

  /// The secrets of a request of the server's.
  func redaction(for request: HTTPRequest) -> Redaction {
    let redaction = redaction ?? ShownParts.of(request)?.redaction ?? .standard
    return redaction.hiding(request.options.credentialHeaders)
  }

  /// True where bodies of this type are recorded although they are no text.
  func keepsBytes(of type: MediaType?) -> Bool {
    type.map { type in binaryTypes.contains { $0.essence == type.essence } } ?? false
  }
}

/// The requests that go to the network and are recorded.
public enum ReplayRecording: Sendable, Hashable, CaseIterable {
  /// None: nothing is sent, ever, and a request that was not recorded fails.
  case none
  /// All where there is no file, and none where there is one.
  case once
  /// Those that were not recorded, which are added to the file.
  case missing
  /// All: nothing is played, and the file is replaced.
  case all
}

/// A part in which a request and a recorded one have to agree.
public enum ReplayAspect: Sendable, Hashable {
  /// The method.
  case method
  /// The whole URL but for its fragment: origin, path and query.
  case url
  /// Scheme, host and port.
  case origin
  /// The path.
  case path
  /// The items of the query, in any order.
  case query
  /// The values of a header field.
  case header(HTTPHeaderName)
  /// The body; JSON by its values. A body that can be read only once agrees with none.
  case body
}

/// The order in which recorded responses are played.
public enum ReplayOrder: Sendable, Hashable {
  /// Each request gets the first matching response that was not played: the n-th of the same gets the n-th.
  case anyOrder
  /// Requests have to come as they were recorded. For calls one after the other: those side by side have no order.
  case asRecorded
}

/// The answer to a request whose recorded responses were all played.
public enum ReplayRepetition: Sendable, Hashable {
  /// The last of them, as often as it is requested.
  case last
  /// None: the request fails, or is recorded where missing ones are.
  case none
}
