public import ErrandFoundation

/// An event that a server has sent (HTML Standard §9.2).
public struct ServerSentEvent: Sendable, Hashable {
  /// The type of the event; `message` where the server states none.
  public var name: String
  /// The data, lines divided by LF.
  public var data: String
  /// The last identifier that the server has stated, with this event or before it; empty without one. A connection that is made
  /// again sends it as `Last-Event-ID`.
  public var id: String
  /// The call that it came by, for errors in its data.
  package var origin = EventOrigin()

  /// An event by its parts.
  public init(name: String = "message", data: String, id: String = "") {
    self.name = name
    self.data = data
    self.id = id
  }

  /// The data as a value, decoded from JSON unless another decoder is given.
  /// Throws ``TaskError`` with code `.decodingFailed` where it does not fit; it shows nothing of the data.
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
  /// Name, data and identifier.
  public var customMirror: Mirror {
    Mirror(self, children: ["name": name, "data": data, "id": id], displayStyle: .struct)
  }
}

/// Tells the call that an event came by, in errors; no part of the event's value.
package struct EventOrigin: Sendable, Hashable {
  private let explain: (@Sendable (any Error) -> any Error)?

  init(_ explain: (@Sendable (any Error) -> any Error)? = nil) { self.explain = explain }

  func explained(_ error: any Error) -> any Error { explain?(error) ?? error }

  package static func == (_: EventOrigin, _: EventOrigin) -> Bool { true }

  package func hash(into _: inout Hasher) {}
}

/// Makes events of a stream's bytes (HTML Standard §9.2.6); pure.
struct EventStreamParser {
  /// The most bytes of an identifier, which is sent back in a field of the header.
  private static let longestID = 4 << 10

  private var splitter: LineSplitter
  private let limit: Int
  private var isAtStart = true
  private var name = ""
  private var data: [UInt8] = []
  private var hasData = false
  /// The identifier of the event that is being read.
  private var id = ""
  /// The identifier of the last event that was whole.
  private(set) var lastID = ""
  /// The wait before a connection is made again, as the server has stated it last; nil where it has not.
  private(set) var retry: Duration?
  /// The error of a line behind events that were handed over.
  private var problem: (any Error)?

  /// - Parameter limit: The most bytes of a line, and of an event's data.
  init(limit: Int) {
    splitter = LineSplitter(.any, limit: limit)
    self.limit = limit
  }

  /// The events that end in `chunk`.
  /// Throws ``HTTPBodyLimitError`` for a line or data above the limit, once the events before it were handed over.
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

  /// Throws the error that ``events(endingIn:)`` has still to throw.
  func check() throws {
    if let problem { throw problem }
    try splitter.check()
  }

  /// Forgets what was begun: §9.2.6, an event that is not ended by an empty line is discarded with the connection.
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
      // One that no header could carry would end the stream with the connection: as with NUL, the one before counts.
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
