public import ErrandFoundation

/// A server-sent event (HTML Standard §9.2).
public struct ServerSentEvent: Sendable, Hashable {
  /// The type of the event. Defaults to `message`.
  public var name: String
  /// The data. Lines are separated by LF.
  public var data: String
  /// The last event ID that the server sent, in this event or an earlier one. Empty if the server hasn't sent an ID.
  /// Sent as `Last-Event-ID` on reconnect.
  public var id: String
  package var origin = EventOrigin()

  /// Creates an event.
  public init(name: String = "message", data: String, id: String = "") {
    self.name = name
    self.data = data
    self.id = id
  }

  /// Decodes the data, by default as JSON.
  ///
  /// Throws ``TaskError`` with code `.decodingFailed` if decoding fails. The error doesn't contain any of the data.
  public func decoded<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self, decoder: any PayloadDecoder = JSONDecoder()
  ) throws -> Value {
    do {
      return try PayloadCoding.decode(type, from: Data(data.utf8), mediaType: .json, with: decoder, redaction: nil)
    } catch {
      throw origin.explained(error)
    }
  }
}

extension ServerSentEvent: CustomReflectable {
  /// The name, data and ID.
  public var customMirror: Mirror {
    Mirror(self, children: ["name": name, "data": data, "id": id], displayStyle: .struct)
  }
}

/// Identifies the call that received an event, for use in errors. Ignored in comparisons of events.
package struct EventOrigin: Sendable, Hashable {
  private let explain: (@Sendable (any Error) -> any Error)?

  init(_ explain: (@Sendable (any Error) -> any Error)? = nil) { self.explain = explain }

  func explained(_ error: any Error) -> any Error { explain?(error) ?? error }

  package static func == (_: EventOrigin, _: EventOrigin) -> Bool { true }

  package func hash(into _: inout Hasher) {}
}

/// Parses an event stream (HTML Standard §9.2.6).
struct EventStreamParser {
  /// The maximum number of bytes in an ID, which is sent back in a header field.
  private static let longestID = 4 << 10

  private var splitter: LineSplitter
  private let limit: Int
  private var isAtStart = true
  private var name = ""
  private var data: [UInt8] = []
  private var hasData = false
  /// The ID of the event being read.
  private var id = ""
  /// The ID of the last complete event.
  private(set) var lastID = ""
  /// The reconnection delay that the server sent last, or `nil` if it hasn't sent one.
  private(set) var retry: Duration?
  /// An error to throw after the earlier events have been delivered.
  private var problem: (any Error)?

  /// - Parameter limit: The maximum number of bytes in a line, and in an event's data.
  init(limit: Int) {
    splitter = LineSplitter(.any, limit: limit)
    self.limit = limit
  }

  /// Returns the events that end in `chunk`. Throws ``HTTPBodyLimitError`` if a line or the data exceeds the limit,
  /// after the earlier events have been returned.
  mutating func events(endingIn chunk: Data) throws -> [ServerSentEvent] {
    try check()
    var events: [ServerSentEvent] = []
    do {
      for line in try splitter.lines(endingIn: chunk) {
        if let event = try event(after: line[...]) { events.append(event) }
      }
    } catch {
      problem = error
      if events.isEmpty { throw error }
    }
    return events
  }

  /// Throws the error that ``events(endingIn:)`` has deferred.
  func check() throws {
    if let problem { throw problem }
    try splitter.check()
  }

  /// Discards an incomplete event before a reconnect (§9.2.6).
  mutating func restart() {
    splitter = LineSplitter(.any, limit: limit)
    isAtStart = true
    id = lastID
    clear()
  }

  private mutating func clear() {
    name = ""
    data = []
    hasData = false
  }

  private mutating func event(after line: ArraySlice<UInt8>) throws -> ServerSentEvent? {
    var line = line
    if isAtStart, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }  // one byte order mark
    isAtStart = false
    guard !line.isEmpty else { return dispatch() }
    let colon = line.firstIndex(of: UInt8(ascii: ":"))
    guard colon != line.startIndex else { return nil }  // a comment
    var value = colon.map { line[($0 + 1)...] } ?? []
    if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
    try take(String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self), value)
    return nil
  }

  private mutating func take(_ field: String, _ value: ArraySlice<UInt8>) throws {
    switch field {
    case "event": name = String(decoding: value, as: UTF8.self)
    case "data":
      guard data.count + value.count <= limit else { throw HTTPBodyLimitError(limit: limit) }
      if hasData { data.append(UInt8(ascii: "\n")) }
      data += value
      hasData = true
    case "id":
      // Ignore an ID that is too long for a header field or contains NUL: sending it would break every reconnect.
      if value.count <= Self.longestID, !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
    case "retry": retry = DeltaSeconds.parse(String(decoding: value, as: UTF8.self)).map { .milliseconds($0) } ?? retry
    default: break
    }
  }

  private mutating func dispatch() -> ServerSentEvent? {
    lastID = id
    defer { clear() }
    guard hasData else { return nil }
    return ServerSentEvent(
      name: name.isEmpty ? "message" : name, data: String(decoding: data, as: UTF8.self), id: lastID)
  }
}
