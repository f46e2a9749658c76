#if os(Linux)
  @testable import Errand

  extension FuzzTarget {
    /// Response heads, line by line, as libcurl delivers them.
    static let heads = FuzzTarget(
      "heads",
      hostile: [
        repeating("X-A: b\r\n", after: "HTTP/1.1 200 OK\r\n"),
        repeating(" folded\r\n", after: "HTTP/1.1 200 OK\r\nX: a\r\n"),
        repeating("HTTP/1.1 103 Early\r\n\r\n"), repeating("5,", after: "HTTP/1.1 200 OK\r\nContent-Length: 5,"),
        repeating("a", after: "HTTP/1.1 200 OK\r\nX: "), repeating(" \t", after: "HTTP/1.1 200 OK\r\nX:"),
      ],
      parse: { bytes in
        var head = HeadLines()
        for line in lines(of: bytes) { _ = line.withUnsafeBytes { head.take($0, HeadLines.Rules()) } }
        _ = ResponseHead(head.bytes)
      },
      check: { bytes in
        _ = ResponseHead(bytes)
        for bits in 0..<4 { try checkHead(bytes, rules(bits)) }
      })

    private static func rules(_ bits: Int) -> HeadLines.Rules {
      HeadLines.Rules(answers417: bits & 1 != 0, isMultiplexed: bits & 2 != 0)
    }

    /// Splits a head into lines, each in its own memory, so that sanitizers detect reads past the end.
    private static func lines(of bytes: [UInt8]) -> [[UInt8]] {
      var lines: [[UInt8]] = []
      var start = 0
      for (index, byte) in bytes.enumerated() where byte == 0x0A {
        lines.append(Array(bytes[start...index]))
        start = index + 1
      }
      return start < bytes.count ? lines + [Array(bytes[start...])] : lines
    }

    private static func checkHead(_ bytes: [UInt8], _ rules: HeadLines.Rules) throws {
      var head = HeadLines()
      for line in lines(of: bytes) {
        guard case .refused(let reason) = line.withUnsafeBytes({ head.take($0, rules) }) else { continue }
        try holds(reason.utf8.count < 300 && !reason.breaksLine, "the reason is not a short line: \(reason)")
        return
      }
      guard head.isComplete || head.completeAsItIs() else { return }
      guard let read = ResponseHead(head.bytes) else { throw FuzzFinding(description: "can't parse an accepted head") }
      try holds(
        read.status.code == head.status && read.status.code >= 200, "\(read.status) differs from \(head.status)")
      for field in read.headers {
        try holds(field.name.isValid && !field.value.breaksLine, "\(field.name): \(field.value.debugDescription)")
      }
      try checkFraming(head.framing, read.headers)
      var text = rules.isMultiplexed ? "HTTP/2 \(head.status)\r\n" : "HTTP/1.1 \(head.status)\r\n"
      for field in read.headers { text += "\(field.name): \(field.value)\r\n" }
      var again = HeadLines()
      for line in lines(of: Array((text + "\r\n").utf8)) {
        _ = line.withUnsafeBytes { again.take($0, HeadLines.Rules(isMultiplexed: rules.isMultiplexed)) }
      }
      try holds(again.isComplete && again.framing == head.framing, "the head, written again, has a different framing")
      try holds(ResponseHead(again.bytes)?.headers == read.headers, "the head, written again, has different fields")
    }

    /// Checks that the framing matches the headers, because later readers rely on the headers.
    private static func checkFraming(_ framing: ResponseFraming, _ headers: HTTPHeaders) throws {
      let lengths = headers.values(for: .contentLength).flatMap { $0.split(separator: ",") }.map { $0.trimmingSpaces() }
      try holds(lengths.allSatisfy { Int64($0) == framing.contentLength }, "\(lengths) does not match \(framing)")
      try holds(lengths.isEmpty == (framing.contentLength == nil), "\(lengths) does not match \(framing)")
      try holds(framing.isChunked == headers.contains(.transferEncoding), "\(framing) has a different coding")
    }
  }
#else
  extension FuzzTarget {
    /// The system parses heads on this platform.
    static let heads = FuzzTarget("heads", hostile: [], parse: { _ in }, check: { _ in })
  }
#endif
