#if os(Linux)
  /// The head of a response as its lines come, pure: those of interim responses come first, and those of a challenge that
  /// is answered.
  struct HeadLines {
    enum Step {
      /// There is more to come.
      case more
      /// The line was the last of the head.
      case complete
      /// The line comes after the body.
      case trailer
    }

    private(set) var bytes: [UInt8] = []
    private(set) var isComplete = false

    /// Takes a line.
    ///
    /// - Parameters:
    ///   - line: The line with its end.
    ///   - beginsAnew: Whether a status line after the end of a head begins another, for the request went out again.
    ///   - passesOver401: Whether a response of this status is not the last, for its challenge will be answered.
    mutating func take(_ line: UnsafeRawBufferPointer, beginsAnew: Bool, passesOver401: Bool) -> Step {
      if Self.isStatusLine(line), !isComplete || beginsAnew { bytes.removeAll(keepingCapacity: true) }
      guard !isComplete else { return .trailer }
      if bytes.isEmpty { bytes.reserveCapacity(960) }
      bytes.append(contentsOf: line)
      guard Self.isBlank(line), !isPassedOver(passesOver401) else { return .more }
      isComplete = true
      return .complete
    }

    /// What was passed over is the head after all, for nothing came after it; false where nothing was.
    mutating func completeAsItIs() -> Bool {
      guard !isComplete, !bytes.isEmpty else { return false }
      isComplete = true
      return true
    }

    /// Whether a head ends with the line, by libcurl's own rule: what else is on it does not count.
    private static func isBlank(_ line: UnsafeRawBufferPointer) -> Bool {
      line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n")
    }

    private static func isStatusLine(_ line: UnsafeRawBufferPointer) -> Bool {
      line.first == UInt8(ascii: "H") && line.starts(with: "HTTP/".utf8)
    }

    /// Whether another head follows. All of 1xx but 101 announce that the final response is still to come (RFC 9110 §15.2).
    private func isPassedOver(_ passesOver401: Bool) -> Bool {
      guard let space = bytes.firstIndex(of: UInt8(ascii: " ")) else { return false }
      let status = bytes[(space + 1)...].prefix(3)
      if status.first == UInt8(ascii: "1") { return !status.elementsEqual("101".utf8) }
      return passesOver401 && status.elementsEqual("401".utf8)
    }
  }
#endif
