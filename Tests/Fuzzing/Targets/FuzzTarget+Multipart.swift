@testable import Errand
import ErrandFoundation

extension FuzzTarget {
  /// Multipart bodies and encoded forms. The boundary follows the first two dashes and defaults to `b`.
  static let multipart = FuzzTarget(
    "multipart",
    hostile: [
      repeating("\r\n--b"), repeating("\r\n--b \t\r", after: "--b\r\n\r\n"), repeating("\n-", after: "--b\r\n\r\n"),
      repeating("--b\r\nA: b\r\n\r\n"), repeating("A: b\r\n", after: "--b\r\n"),
      repeating(" a\r\n", after: "--b\r\nA: b\r\n"),
      repeating("A: b\r\n"), repeating("\r\n", after: "--b\r\nContent-Length: 0\r\n\r\n"),
      repeating("\r", after: "--b\r\n\r\n"), repeating(" ", after: "--b\r\n\r\n\r\n--b"), repeating("x"),
    ],
    parse: { bytes in
      // Parse in chunks to detect a parser that rescans its buffer.
      for size in [7, 1 << 16] {
        let pieces = stride(from: 0, to: bytes.count, by: size).map { Data(bytes[$0..<min($0 + size, bytes.count)]) }
        for isPushed in [true, false] { _ = reading(pieces, boundary: "b", isPushed: isPushed) }
      }
    },
    check: { bytes in
      let boundary = boundary(of: bytes)
      for isPushed in [true, false] {
        let all = Pieces.ways(bytes).map { reading($0, boundary: boundary, isPushed: isPushed) }
        for other in all.dropFirst() {
          try holds(other.isRefused == all[0].isRefused, "rejection depends on how the input is split")
          guard !other.isRefused else { continue }
          try holds(other == all[0], "\(other) differs from \(all[0])")
        }
        if !all[0].isRefused, !isPushed { try checkParts(all[0], boundary) }
      }
      try checkForm(bytes, boundary)
    })

  private struct Part: Equatable {
    var headers: HTTPHeaders
    var body: [UInt8] = []
    var isWhole = false
  }

  private struct Reading: Equatable {
    var parts: [Part] = []
    var isComplete = false
    var isRefused = false
  }

  private static func reading(_ pieces: [Data], boundary: String, isPushed: Bool = false) -> Reading {
    let limits = MultipartLimits(parts: 1_000_000, headerSize: 16 << 20)
    var parser = MultipartParser(boundary: boundary, limits: limits, isPushed: isPushed)
    var reading = Reading()
    do {
      for piece in pieces + [nil] {
        if let piece { parser.append(piece) } else { parser.finish() }
        while let event = try parser.next() { take(event, &reading) }
      }
    } catch {
      reading.isRefused = true
    }
    return reading
  }

  private static func take(_ event: MultipartParser.Event, _ reading: inout Reading) {
    let last = reading.parts.count - 1
    switch event {
    case .part(let headers): reading.parts.append(Part(headers: headers))
    case .data(let data): reading.parts[last].body += data
    case .endOfPart: reading.parts[last].isWhole = true
    case .end: reading.isComplete = true
    }
  }

  private static func boundary(of bytes: [UInt8]) -> String {
    guard bytes.starts(with: "--".utf8) else { return "b" }
    let line = bytes.dropFirst(2).prefix { $0 > 0x20 && $0 < 0x7F }
    return (1...70).contains(line.count) ? String(Array(line)) : "b"
  }

  private static func checkParts(_ reading: Reading, _ boundary: String) throws {
    var bytes: [UInt8] = []
    for part in reading.parts {
      for field in part.headers {
        try holds(field.name.isValid && !field.value.breaksLine, "\(field.name): \(field.value.debugDescription)")
      }
      let fields = part.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
      bytes += Array("--\(boundary)\r\n\(fields)\r\n".utf8) + part.body + Array("\r\n".utf8)
    }
    // A delimiter whose boundary starts with dashes may have been misread.
    guard reading.isComplete, !boundary.hasPrefix("--") else { return }
    try holds(reading.parts.allSatisfy(\.isWhole), "the body ended within a part")
    let again = Self.reading([Data(bytes + Array("--\(boundary)--\r\n".utf8))], boundary: boundary)
    try holds(again == reading, "\(reading), written again, becomes \(again)")
  }

  /// Checks that a form part is parsed as it was written, regardless of its names and data.
  private static func checkForm(_ bytes: [UInt8], _ boundary: String) throws {
    let lines = bytes.split(separator: 0x0A, maxSplits: 2, omittingEmptySubsequences: false).map { String(Array($0)) }
    guard lines.count == 3 else { return }
    // The boundary must not occur in the data. Real forms use a random boundary.
    var own = "errand-0"
    while bytes.firstRange(of: own.utf8) != nil { own += "0" }
    let part = MultipartForm.Part.data(lines[0], Data(), fileName: lines[1], type: MediaType(lines[2]))
    let head = part.head(after: own)
    let read = reading([head + bytes + Data("\r\n--\(own)--\r\n".utf8)], boundary: own)
    // Skip inputs with a NUL, which the parsers reject in a header.
    guard !lines[0].utf8.contains(0), !lines[1].utf8.contains(0), !lines[2].utf8.contains(0) else { return }
    try holds(read.isComplete && read.parts.count == 1 && read.parts[0].body == bytes, "a form is read as \(read)")
    let headers = read.parts[0].headers
    try holds(headers.count == 2, "a part has the wrong headers: \(headers)")
    let disposition = headers[.contentDisposition].flatMap { ContentDisposition(ofPart: $0) }
    try holds(disposition?.type == "form-data" && disposition?.parameters.count == 2, "\(headers)")
    let name = lines[0].utf8.flatMap { $0 == 0x0D ? [0x0D, 0x0A] : [$0] }
    try holds(disposition?.name == readInForm(name), "\(lines[0].debugDescription) is sent as \(headers)")
    let fileName = disposition?.parameters["filename"]
    try holds(fileName == readInForm(Array(lines[1].utf8)), "\(lines[1].debugDescription) is \(headers)")
  }

  /// Returns the name as a parser reads it, with escapes decoded.
  private static func readInForm(_ name: [UInt8]) -> String {
    let escapes: [String: UInt8] = ["%22": 0x22, "%0d": 0x0D, "%0a": 0x0A]
    var (rest, read) = (name[...], [UInt8]())
    while let byte = rest.first {
      let escaped = escapes[String(decoding: rest.prefix(3), as: UTF8.self).lowercased()]
      read.append(escaped ?? byte)
      rest = rest.dropFirst(escaped == nil ? 1 : 3)
    }
    return String(Array(read))
  }
}
