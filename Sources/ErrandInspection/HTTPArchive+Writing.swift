import Errand
import ErrandFoundation

extension HTTPArchive.Entry {
  /// Returns a call's entries: one per request, or a single entry if the call got a response without sending a request.
  static func entries(of call: RecordedCall) -> [HTTPArchive.Entry] {
    guard !call.isHidden, let url = call.url else { return [] }
    var entries = call.exchanges.map { HTTPArchive.Entry($0, of: call) }
    if entries.isEmpty {
      var exchange = RecordedCall.Exchange(attempt: 0, method: call.method, url: url, sent: .zero)
      (exchange.response, exchange.failure) = (call.answer, call.failure)
      exchange.ended = call.duration
      entries = [HTTPArchive.Entry(exchange, of: call)]
    }
    let last = entries.count - 1
    entries[last].timeline = call.moments.map { "\($0.time.formattedSeconds)  \($0.text)" }
    entries[last].diagnosis = call.diagnosis?.description
    entries[last].failure = entries[last].failure ?? call.failure
    return entries
  }

  private init(_ exchange: RecordedCall.Exchange, of call: RecordedCall) {
    let started = call.startedAt.addingTimeInterval(exchange.sent.inSeconds)
    let timings = HTTPArchive.Timings(exchange)
    let uses = call.moments.filter { ["cacheAnswered", "cacheMissed", "cacheValidated"].contains($0.kind) }
    self.init(
      startedDateTime: started.formatted(RecordingEntry.dateFormat), time: timings.total,
      request: HTTPArchive.Request(exchange), response: HTTPArchive.Response(exchange), timings: timings,
      serverIPAddress: exchange.timings.flatMap { $0.remoteAddress.isEmpty ? nil : $0.remoteAddress },
      comment: call.comment, call: call.id, task: call.task, attempt: exchange.attempt,
      wasResent: exchange.timings?.wasResent, cacheUse: uses.isEmpty ? nil : uses.map(\.text).joined(separator: "; "),
      failure: exchange.failure)
  }
}

extension HTTPArchive.Request {
  init(_ exchange: RecordedCall.Exchange) {
    let parts = (exchange.url ?? "").split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let url = String(parts.first ?? "")
    let query = url.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
    self.init(
      method: exchange.method.rawValue, url: url, httpVersion: exchange.response?.httpVersion ?? "unknown",
      cookies: exchange.headers.values(for: .cookie).flatMap { Self.pairs($0, divider: ";") },
      headers: exchange.headers, queryString: Self.pairs(String(query), divider: "&"),
      postData: exchange.body.map(HTTPArchive.PostData.init), headersSize: -1,
      bodySize: exchange.body.map { $0.size ?? -1 } ?? 0)
  }

  fileprivate static func pairs(_ text: String, divider: Character) -> [HTTPArchive.Pair] {
    guard text != Redaction.mark else { return [] }
    return text.split(separator: divider).map { pair in
      let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count == 2 ? parts[1] : ""
      return divider == "&"
        ? HTTPArchive.Pair(name: Redaction.unescaped(parts[0]), value: Redaction.unescaped(value))
        : HTTPArchive.Pair(name: String(parts[0]), value: String(value))
    }
  }
}

extension HTTPArchive.PostData {
  fileprivate init(_ body: RecordedCall.Body) {
    self.init(
      mimeType: body.type ?? "", text: body.text ?? body.data?.base64EncodedString() ?? "",
      encoding: body.data == nil ? nil : "base64", comment: body.note)
  }
}

extension HTTPArchive.Response {
  init(_ exchange: RecordedCall.Exchange) {
    let response = exchange.response
    let headers = response?.headers ?? [:]
    func value(_ name: HTTPHeaderName) -> String? { headers.values(for: name).first }
    let body = response?.body
    // RFC 9110 §6.4.1: these responses have no body, regardless of their declared length.
    let isBodiless = exchange.method == .head || [204, 304].contains(response?.status.code ?? 0)
    // The declared length is reliable only if the body was read to the end, or if the length is 0.
    let announced = exchange.failure == nil ? value(.contentLength).flatMap { Int($0) } : nil
    let length = isBodiless ? 0 : body?.size != nil || announced == 0 ? announced : nil
    self.init(
      status: response?.status.code ?? 0, statusText: response?.status.phrase ?? "",
      httpVersion: response?.httpVersion ?? "unknown",
      cookies: headers.values(for: .setCookie).flatMap {
        HTTPArchive.Request.pairs(String($0.prefix { $0 != ";" }), divider: ";")
      },
      headers: headers,
      content: HTTPArchive.Content(
        size: body?.size ?? -1, mimeType: body?.type ?? value(.contentType) ?? "",
        text: body?.text ?? body?.data?.base64EncodedString(), encoding: body?.data == nil ? nil : "base64",
        comment: body?.note),
      redirectURL: value(.location) ?? "", headersSize: -1, bodySize: length ?? -1, trailers: response?.trailers)
  }
}

extension RecordedCall.Response {
  fileprivate var httpVersion: String { version?.rawValue ?? "unknown" }
}

extension HTTPArchive.Timings {
  init(_ exchange: RecordedCall.Exchange) {
    let queued = exchange.queued ?? .zero
    let end = max(exchange.ended ?? exchange.sent, exchange.answered ?? exchange.sent)
    blocked = exchange.queued.map { Self.milliseconds($0) } ?? -1
    guard let times = exchange.timings, times.lastByte > .zero || times.firstByte > .zero else {
      let head = exchange.answered ?? end
      wait = Self.milliseconds(head - exchange.sent - queued)
      receive = Self.milliseconds(end - head)
      return
    }
    let isConnected = max(times.connect, times.secureConnect)
    if exchange.response?.isConnectionReused != true {
      dns = Self.milliseconds(times.nameLookup)
      connect = Self.milliseconds(isConnected - times.nameLookup)
      if times.secureConnect > .zero { ssl = Self.milliseconds(times.secureConnect - times.connect) }
    }
    guard times.firstByte > .zero else {
      interrupt(times, after: end - exchange.sent - queued)
      return
    }
    send = Self.milliseconds(times.requestStart - max(isConnected, times.nameLookup))
    wait = Self.milliseconds(max(times.firstByte, times.requestStart) - times.requestStart)
    receive = Self.milliseconds(times.lastByte - times.firstByte)
  }

  /// Sets the phases of a request that received nothing. Its last phase took up the remaining time.
  private mutating func interrupt(_ times: TransferTimings, after total: Duration) {
    let isConnected = max(times.connect, times.secureConnect, times.nameLookup)
    if times.requestStart > .zero {
      send = Self.milliseconds(times.requestStart - isConnected)
      wait = Self.milliseconds(total - times.requestStart)
    } else if times.nameLookup > .zero {
      connect = Self.milliseconds(total - times.nameLookup)
      if times.connect > .zero { ssl = Self.milliseconds(total - times.connect) }
    } else {
      dns = Self.milliseconds(total)
    }
  }

  /// Returns a duration in milliseconds, rounded to microseconds. Negative differences between clocks become 0.
  private static func milliseconds(_ duration: Duration) -> Double {
    max(0, (duration.inSeconds * 1e6).rounded() / 1000)
  }
}
