import ErrandFoundation

/// The parts of a call that are logged when it ends.
///
///     await shop.update { $0.logOptions = .standard }  // GET https://shop.example/widgets/7 200 OK 0.031 s
///
/// The method, URL, status and duration share one line, followed by the other selected parts. Secrets are redacted.
/// Bodies have the same size limits as in echoes.
public struct LogOptions: OptionSet, Sendable, Hashable {
  /// The parts as a bit mask.
  public let rawValue: Int

  /// Creates options from a bit mask.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The URL, and the error message of a failed call, which may contain the URL. If the URL is not logged, the task's
  /// name and the error's code replace them.
  public static let url = LogOptions(rawValue: 1)
  /// The status, or whether the call failed or was cancelled, followed by what was unusual: several attempts, a response
  /// from the cache, or a wait of 0.1 s or more in the queue.
  public static let status = LogOptions(rawValue: 2)
  /// The duration of the call.
  public static let time = LogOptions(rawValue: 4)
  /// The header fields of each request, on lines starting with `>`.
  public static let requestHeaders = LogOptions(rawValue: 8)
  /// The header fields of each response, on lines starting with `<`.
  public static let responseHeaders = LogOptions(rawValue: 16)
  /// The body of each request, on lines starting with `>`.
  public static let requestBody = LogOptions(rawValue: 32)
  /// The body of each response, if it was read, on lines starting with `<`.
  public static let responseBody = LogOptions(rawValue: 64)

  /// The URL, status and duration on one line.
  public static let standard: LogOptions = [.url, .status, .time]
  /// All parts.
  public static let full: LogOptions = [.standard, .requestHeaders, .responseHeaders, .requestBody, .responseBody]

  /// Whether the log has parts after the first line. If so, the exchanges must be kept.
  var hasDetails: Bool { !isSubset(of: .standard) }

  /// The parts of the recorded call that the log needs.
  var recordingStyle: RecordingStyle {
    var style: RecordingStyle = contains(.url) ? .url : []
    if contains(.requestHeaders) || contains(.responseHeaders) { style.insert(.headers) }
    if contains(.requestBody) { style.insert(.upload) }
    if contains(.responseBody) { style.insert(.download) }
    return style
  }

  // MARK: Formatting

  func text(of call: RecordedCall) -> String {
    guard hasDetails else { return line(of: call) }
    var lines = [line(of: call)]
    for exchange in call.exchanges {
      if call.exchanges.count > 1 { lines.append("> \(exchange.method) \(exchange.url ?? call.task)") }
      lines += part(
        ">", contains(.requestHeaders) ? exchange.headers : [:], contains(.requestBody) ? exchange.body : nil)
      guard let response = exchange.response else { continue }
      if call.exchanges.count > 1 { lines.append("< \(response.status)") }
      lines += part(
        "<", contains(.responseHeaders) ? response.headers : [:], contains(.responseBody) ? response.body : nil)
    }
    return lines.joined(separator: "\n")
  }

  private func line(of call: RecordedCall) -> String {
    var words = [call.method.description, call.url ?? call.task]
    if contains(.status) { words.append(status(of: call)) }
    if contains(.time) { words.append(call.duration.formattedSeconds) }
    var line = words.filter { !$0.isEmpty }.joined(separator: " ")
    guard contains(.status) else { return line.onOneLine }
    for remark in remarks(on: call) { line += ", \(remark)" }
    if let reason = reason(of: call) { line += ": \(reason)" }
    return line.onOneLine
  }

  private func remarks(on call: RecordedCall) -> [String] {
    var remarks: [String] = []
    if call.outcome == .succeeded, call.attemptCount > 1 { remarks.append("\(call.attemptCount) attempts") }
    let kinds = Set(call.moments.map(\.kind))
    if kinds.contains("cacheAnswered") { remarks.append("from the cache") }
    if kinds.contains("cacheValidated") { remarks.append("validated") }
    if kinds.contains("joined") { remarks.append("shared") }
    let queued = call.timeInQueue
    if queued >= .milliseconds(100) { remarks.append("\(queued.formattedSeconds) in the queue") }
    return remarks
  }

  private func status(of call: RecordedCall) -> String {
    call.outcome == .cancelled ? "cancelled" : call.status?.description ?? call.outcome.rawValue
  }

  /// Returns the error message without its prefix (method, URL, status), which is already on the line. If the message
  /// is hidden, returns the error's code.
  private func reason(of call: RecordedCall) -> String? {
    guard var reason = call.failure?[...] else {
      return call.errorType == TaskError.Code.badStatus.name && call.status != nil ? nil : call.errorType
    }
    let status = call.status?.description ?? ""
    for said in ["\(call.method) \((call.url ?? "").shortened)", status] where reason.hasPrefix(said) {
      let rest = reason.dropFirst(said.count)
      if rest.isEmpty || rest.hasPrefix(": ") { reason = rest.dropFirst(2) }
    }
    return reason.isEmpty ? nil : String(reason)
  }

  /// Returns a message's lines. Every line has a prefix, so a body can't be mistaken for another call's line.
  private func part(_ mark: String, _ headers: HTTPHeaders, _ body: RecordedCall.Body?) -> [String] {
    var lines = headers.map { "\($0.name): \($0.value)" }
    if let shown = body?.shown, !shown.isEmpty {
      if !lines.isEmpty { lines.append("") }
      lines += shown.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
    }
    return lines.map { $0.isEmpty ? mark : "\(mark) \($0.onOneLine)" }
  }
}
