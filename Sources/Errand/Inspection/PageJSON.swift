import ErrandFoundation

/// The blocks of calls on a ``LogPage`` as they are written, piece by piece: JSON with no `<` in it. Pure.
///
/// By hand, for a coder that knows all types takes longer than the call.
struct PageJSON: ~Copyable {
  private var text: TextBytes
  /// True where the next member or element needs a comma before it.
  private var isContinued = false

  init(capacity: Int) { text = TextBytes(capacity: capacity) }

  /// Gives what was written to `use`, which must not keep it.
  func withBytes<Result>(_ use: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try text.withBytes(use)
  }

  /// Adds the block of a call: what the page shows of it.
  mutating func addBlock(of call: RecordedCall, file: String) {
    raw("<script type=\"application/json\" class=\"call\">{\"call\":")
    isContinued = false
    add(call)
    member("file", file)
    raw("}</script>\n")
  }

  // MARK: Values

  @inline(__always)
  private mutating func raw(_ text: StaticString) { self.text.raw(text) }

  /// A string. An escape of `<` is the same in a string, which is the only place where one can stand: nothing can end the block.
  private mutating func string(_ string: String) {
    text.quoted(string, escaping: UInt8(ascii: "<"))
  }

  // MARK: Members

  private mutating func key(_ name: StaticString) {
    text.key(name, isContinued: isContinued)
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
    text.number(value)
  }

  private mutating func member(_ name: StaticString, _ duration: Duration?) {
    guard let duration else { return }
    key(name)
    text.preciseSeconds(duration)
  }

  private mutating func object(_ name: StaticString? = nil, _ fill: (inout PageJSON) -> Void) {
    if let name { key(name) }
    raw("{")
    isContinued = false
    fill(&self)
    raw("}")
    isContinued = true
  }

  private mutating func list<Element>(
    _ name: StaticString, _ elements: [Element], _ add: (inout PageJSON, Element) -> Void
  ) {
    key(name)
    raw("[")
    for (index, element) in elements.enumerated() {
      if index > 0 { raw(",") }
      isContinued = false
      add(&self, element)
    }
    raw("]")
    isContinued = true
  }

  // MARK: A call

  private mutating func add(_ call: RecordedCall) {
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
      json.member("startedAt", .microseconds(Int64((call.startedAt.timeIntervalSince1970 * 1e6).rounded())))
      json.member("duration", call.duration)
      json.member("attempts", call.attempts)
      json.list("exchanges", call.exchanges) { $0.add($1) }
      json.list("moments", call.moments) { json, moment in
        json.object { json in
          json.member("time", moment.time)
          json.member("text", moment.text)
        }
      }
      guard let diagnosis = call.diagnosis else { return }
      json.object("diagnosis") { json in
        json.member("cause", diagnosis.cause)
        json.member("advice", diagnosis.advice)
      }
    }
  }

  private mutating func add(_ exchange: RecordedCall.Exchange) {
    object { json in
      json.member("attempt", exchange.attempt)
      json.member("method", exchange.method.rawValue)
      json.member("url", exchange.url)
      json.fields("headers", exchange.headers)
      json.body(exchange.body)
      // The page makes the commands of what it shows, and has no bytes that are no text.
      if let data = exchange.body?.data {
        json.member("curl", data.count > LogPage.bodyLimit ? "" : exchange.curlCommand)
      }
      if let response = exchange.response {
        json.object("response") { json in
          json.member("status", response.status.code)
          json.member("version", response.version?.rawValue)
          json.fields("headers", response.headers)
          json.body(response.body)
          if let trailers = response.trailers { json.fields("trailers", trailers) }
        }
      }
      json.member("failure", exchange.failure)
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

  private mutating func fields(_ name: StaticString, _ fields: [RecordedCall.Field]) {
    list(name, fields) { json, field in
      json.object { json in
        json.member("name", field.name)
        json.member("value", field.value)
      }
    }
  }

  /// A body, without what is beyond the limit of the page.
  private mutating func body(_ body: RecordedCall.Body?) {
    guard let body else { return }
    object("body") { json in
      let count = body.text?.utf8.count ?? 0
      guard let whole = body.text, count > LogPage.bodyLimit else {
        json.member("text", body.text)
        return json.member("note", body.note)
      }
      json.member("text", String(decoding: whole.utf8.prefix(LogPage.bodyLimit), as: UTF8.self))
      json.member("note", "… \(count - LogPage.bodyLimit) more bytes are in the text file")
      json.member("cut", count)
    }
  }
}
