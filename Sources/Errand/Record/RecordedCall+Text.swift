extension RecordedCall {
  /// The text of a recording as a log shows it, or a terminal.
  func echo(inColour: Bool) -> String {
    var text = TextBytes(capacity: 1000, for: inColour ? .terminal : .log)
    write(to: &text)
    return text.text
  }

  /// Writes the text of a recording.
  func write(to text: inout TextBytes) {
    text.paint(outcome == .failed ? .red : .bold) { text in
      text.add(task)
      text.raw(": ")
      if !isHidden, let end = moments.last?.text {
        text.add(end)
      } else {
        text.raw("call ")
        text.add(outcome.rawValue)
      }
    }
    text.raw("\n")
    if let comment { text.line(comment) }
    if exchanges.isEmpty, let url {
      text.raw("\n")
      text.add(method.rawValue)
      text.raw(" ")
      text.line(url)
      if let answer {
        text.raw("\n")
        text.line(answer.status.description)
        Self.write(answer.headers, to: &text)
      }
    }
    for (index, exchange) in exchanges.enumerated() {
      if exchanges.count > 1 {
        text.raw("\n")
        text.line("Request \(index + 1) of \(exchanges.count), attempt \(exchange.attempt)")
      }
      text.raw("\n")
      exchange.writeRequest(to: &text)
      text.raw("\n")
      exchange.writeResponse(to: &text, isHidden: isHidden)
    }
    if !isHidden { writeTimeline(to: &text) }
    guard let diagnosis, outcome == .failed else { return }
    text.raw("\nDiagnosis\n  ")
    text.paint(.yellow) { $0.add(diagnosis.description) }
    text.raw("\n")
  }

  private func writeTimeline(to text: inout TextBytes) {
    text.raw("\nTimeline\n")
    for moment in moments {
      text.raw("  ")
      text.seconds(moment.time)
      text.raw("  ")
      text.line(moment.text)
    }
  }

  fileprivate static func write(_ fields: [Field], to text: inout TextBytes) {
    for field in fields {
      text.add(field.name)
      text.raw(": ")
      text.line(field.value)
    }
  }
}

extension RecordedCall.Exchange {
  fileprivate func writeRequest(to text: inout TextBytes) {
    text.paint(.cyan) { text in
      text.add(method.rawValue)
      text.raw(" ")
      text.add(url ?? "<hidden>")
    }
    text.raw("\n")
    RecordedCall.write(headers, to: &text)
    guard let body else { return }
    text.raw("\n")
    text.body(body.shown)
  }

  /// Its time is that of the attempt, of which an earlier request took a part.
  fileprivate func writeResponse(to text: inout TextBytes, isHidden: Bool) {
    text.paint(response?.status.colour ?? .red) { $0.add(response?.status.description ?? "No response") }
    if let duration {
      text.raw(" after ")
      text.seconds(duration)
    }
    guard let response else {
      if !isHidden {
        text.raw(": ")
        text.add(failure ?? "cancelled")
      }
      return text.raw("\n")
    }
    text.raw("\n")
    RecordedCall.write(response.headers, to: &text)
    if let failure { text.line(failure) }
    if let body = response.body, body.size != 0 {
      text.raw("\n")
      text.body(body.shown)
    }
    guard let trailers = response.trailers else { return }
    text.raw("\n")
    RecordedCall.write(trailers, to: &text)
  }
}

extension HTTPStatus {
  fileprivate var colour: TextBytes.Colour { kind == .success ? .green : isRedirect ? .yellow : .red }
}
