extension RecordedCall {
  /// Returns the text of the recording, in color for a terminal and without color for a log.
  func echo(inColour: Bool) -> String {
    var text = TextBytes(capacity: 1000, for: inColour ? .terminal : .log)
    write(to: &text)
    return text.text
  }

  /// The byte ranges of the parts of a recording's text, without their last line breaks.
  package struct TextParts {
    package var exchanges: [Exchange] = []
    package var timeline: Range<Int>?

    package struct Exchange {
      package let request: Range<Int>
      package let requestBody: Range<Int>?
      /// The status line and header, or the error message.
      package let response: Range<Int>
      package let responseBody: Range<Int>?
      package let trailers: Range<Int>?
    }
  }

  /// Writes the text of the recording and returns the ranges of its parts.
  @discardableResult
  package func write(to text: inout TextBytes) -> TextParts {
    var parts = TextParts()
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
      parts.exchanges.append(exchange.write(to: &text, isHidden: isHidden))
    }
    if !isHidden {
      text.raw("\nTimeline\n")
      parts.timeline = text.lines { writeTimeline(to: &$0) }
    }
    guard let diagnosis, outcome == .failed else { return parts }
    text.raw("\nDiagnosis\n  ")
    text.paint(.yellow) { $0.add(diagnosis.description) }
    text.raw("\n")
    return parts
  }

  private func writeTimeline(to text: inout TextBytes) {
    for moment in moments {
      text.raw("  ")
      text.seconds(moment.time)
      text.raw("  ")
      text.line(moment.text)
    }
  }

  fileprivate static func write(_ fields: HTTPHeaders, to text: inout TextBytes) {
    for field in fields {
      text.add(field.name.rawName)
      text.raw(": ")
      text.line(field.value)
    }
  }
}

extension RecordedCall.Exchange {
  fileprivate func write(to text: inout TextBytes, isHidden: Bool) -> RecordedCall.TextParts.Exchange {
    text.raw("\n")
    let request = text.lines { writeRequest(to: &$0) }
    let requestBody = body.map { body in text.paragraph { $0.body(body.shown) } }
    text.raw("\n")
    let head = text.lines { writeResponse(to: &$0, isHidden: isHidden) }
    let responseBody = response?.body.flatMap { body in
      body.size == 0 ? nil : text.paragraph { $0.body(body.shown) }
    }
    let trailers = response?.trailers.map { fields in text.paragraph { RecordedCall.write(fields, to: &$0) } }
    return RecordedCall.TextParts.Exchange(
      request: request, requestBody: requestBody, response: head, responseBody: responseBody, trailers: trailers)
  }

  private func writeRequest(to text: inout TextBytes) {
    text.paint(.cyan) { text in
      text.add(method.rawValue)
      text.raw(" ")
      text.add(url ?? "<hidden>")
    }
    text.raw("\n")
    RecordedCall.write(headers, to: &text)
  }

  /// Writes the response. The duration is that of the entire attempt, which can include earlier requests.
  private func writeResponse(to text: inout TextBytes, isHidden: Bool) {
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
  }
}

extension TextBytes {
  /// Writes lines and returns their range, without the last line break.
  fileprivate mutating func lines(_ write: (inout TextBytes) -> Void) -> Range<Int> {
    let start = count
    write(&self)
    return start..<max(start, count - 1)
  }

  fileprivate mutating func paragraph(_ write: (inout TextBytes) -> Void) -> Range<Int> {
    raw("\n")
    return lines(write)
  }
}

extension HTTPStatus {
  fileprivate var colour: TextBytes.Colour { kind == .success ? .green : isRedirect ? .yellow : .red }
}
