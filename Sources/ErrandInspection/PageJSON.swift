import Errand
import ErrandFoundation

/// Writes the JSON blocks of a ``LogPage``, without any `<`. Written by hand because a generic encoder takes longer
/// than the call itself.
struct PageJSON: ~Copyable {
  private var output: TextBytes
  private var isContinued = false

  init(capacity: Int) { output = TextBytes(capacity: capacity) }

  func withBytes<Result>(_ use: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try output.withBytes(use)
  }

  /// Adds a call's block. Requests and responses are copied from `text`, which is also written to the file.
  mutating func addBlock(
    of call: RecordedCall, file: String, text: UnsafeRawBufferPointer, _ parts: RecordedCall.TextParts
  ) {
    raw("<script type=\"application/json\" class=\"call\">{\"call\":")
    isContinued = false
    add(call, text, parts)
    member("file", file)
    raw("}</script>\n")
  }

  // MARK: Values

  @inline(__always)
  private mutating func raw(_ text: StaticString) { output.raw(text) }

  /// Writes a string. `<` occurs only in strings and is escaped there, so no text can end the block.
  private mutating func string(_ string: String) {
    output.quoted(string, escaping: UInt8(ascii: "<"))
  }

  private mutating func string(_ part: Slice<UnsafeRawBufferPointer>) {
    output.quoted(
      UnsafeRawBufferPointer(rebasing: part).assumingMemoryBound(to: UInt8.self), escaping: UInt8(ascii: "<"))
  }

  // MARK: Members

  private mutating func key(_ name: StaticString) {
    output.key(name, isContinued: isContinued)
    isContinued = true
  }

  private mutating func member(_ name: StaticString, _ value: String?) {
    guard let value else { return }
    key(name)
    string(value)
  }

  private mutating func member(_ name: StaticString, _ value: Int?) {
    guard let value else { return }
    key(name)
    output.number(value)
  }

  private mutating func member(_ name: StaticString, _ duration: Duration?) {
    guard let duration else { return }
    key(name)
    output.preciseSeconds(duration)
  }

  private mutating func object(_ name: StaticString? = nil, _ fill: (inout PageJSON) -> Void) {
    if let name { key(name) }
    raw("{")
    isContinued = false
    fill(&self)
    raw("}")
    isContinued = true
  }

  private mutating func member(_ name: StaticString, _ part: Range<Int>?, of text: UnsafeRawBufferPointer) {
    guard let part else { return }
    key(name)
    string(text[part])
  }

  // MARK: A call

  private mutating func add(_ call: RecordedCall, _ text: UnsafeRawBufferPointer, _ parts: RecordedCall.TextParts) {
    object { json in
      json.member("id", call.id)
      json.member("task", call.task)
      json.member("tag", call.tag)
      json.member("comment", call.comment)
      json.member("method", call.method.rawValue)
      json.member("url", call.url)
      json.member("status", call.status?.code)
      json.member("outcome", call.outcome.rawValue)
      json.member("failure", call.failure)
      json.member("startedAt", Duration(wholeMicroseconds: call.startedAt.timeIntervalSince1970))
      json.member("duration", call.duration)
      json.member("attempts", call.attemptCount)
      json.key("exchanges")
      json.raw("[")
      for index in call.exchanges.indices {
        if index > 0 { json.raw(",") }
        json.add(call.exchanges[index], text, parts.exchanges[index])
      }
      json.raw("]")
      json.member("timeline", parts.timeline, of: text)
      guard let diagnosis = call.diagnosis else { return }
      json.object("diagnosis") { json in
        json.member("cause", diagnosis.cause)
        json.member("advice", diagnosis.advice)
      }
    }
  }

  private mutating func add(
    _ exchange: RecordedCall.Exchange, _ text: UnsafeRawBufferPointer, _ parts: RecordedCall.TextParts.Exchange
  ) {
    object { json in
      json.member("attempt", exchange.attempt)
      json.member("version", exchange.response?.version?.rawValue)
      json.member("request", parts.request, of: text)
      json.body("requestBody", parts.requestBody, of: text)
      // The page builds most curl commands from the displayed text, which requires a text body.
      if exchange.body.map({ $0.text == nil }) ?? false || !exchange.isReadFromText {
        json.member("curl", exchange.hasLongCommand ? "" : exchange.curlCommand())
      }
      json.member("response", parts.response, of: text)
      json.body("responseBody", parts.responseBody, of: text)
      json.member("trailers", parts.trailers, of: text)
      json.member("sent", exchange.sent)
      json.member("answered", exchange.answered)
      json.member("ended", exchange.ended)
      json.member("queued", exchange.queued)
      guard let times = exchange.timings?.parts else { return }
      json.object("timings") { json in
        json.member("nameLookup", times.nameLookup)
        json.member("connect", times.connect)
        json.member("secureConnect", times.secureConnect)
        json.member("firstByte", times.firstByte)
        json.member("lastByte", times.lastByte)
      }
    }
  }

  private mutating func body(_ name: StaticString, _ part: Range<Int>?, of text: UnsafeRawBufferPointer) {
    guard let part else { return }
    object(name) { json in
      let shown = LogPage.bodyLimit
      guard part.count > shown else { return json.member("text", part, of: text) }
      // Don't cut inside a character.
      let end = text[part].prefix(shown + 1).lastIndex { $0 & 0xC0 != 0x80 } ?? part.lowerBound
      json.member("text", part.lowerBound..<end, of: text)
      json.member("cut", part.upperBound - end)
    }
  }
}

extension RecordedCall.Exchange {
  /// Whether the command's body exceeds the page's limit.
  fileprivate var hasLongCommand: Bool {
    (body?.data?.count ?? body?.text?.utf8.count ?? 0) > LogPage.bodyLimit
  }

  /// Whether the method, URL and fields can be parsed from the text. `false` for an invalid request.
  fileprivate var isReadFromText: Bool {
    func isLine(_ text: String) -> Bool { text.hasOnlyBytes { $0 != 0x0A } }
    return method.isValid && isLine(url ?? "")
      && headers.allSatisfy { isLine($0.value) && $0.name.isValid }
  }
}
