import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Streams of parts, as sent by cameras.
@Suite(.timeLimit(.minutes(1))) struct PushedPartsTests {
  private struct Reading: Equatable {
    var bodies: [String] = []
    var isComplete = false
    var error: String?
  }

  private static func read(_ pieces: [Data], boundary: String = "x", isPushed: Bool = true) -> Reading {
    var parser = MultipartParser(boundary: boundary, limits: MultipartLimits(), isPushed: isPushed)
    var reading = Reading()
    do {
      for piece in pieces + [nil] {
        if let piece { parser.append(piece) } else { parser.finish() }
        while let event = try parser.next() {
          switch event {
          case .part: reading.bodies.append("")
          case .data(let data): reading.bodies[reading.bodies.count - 1] += String(decoding: data, as: UTF8.self)
          case .endOfPart: reading.bodies[reading.bodies.count - 1] += "|"
          case .end: break
          }
        }
      }
      reading.isComplete = parser.isComplete
    } catch {
      reading.error = (error as? TaskError)?.reason
    }
    return reading
  }

  /// Parses the parts in `text` and checks that chunking makes no difference.
  private static func read(_ text: String, boundary: String = "x", isPushed: Bool = true) -> Reading {
    let bytes = Data(text.utf8)
    let whole = read([bytes], boundary: boundary, isPushed: isPushed)
    #expect(read(bytes.map { Data([$0]) }, boundary: boundary, isPushed: isPushed) == whole)
    for cut in 0..<bytes.count {
      let halves = read([bytes.prefix(cut), bytes.dropFirst(cut)], boundary: boundary, isPushed: isPushed)
      #expect(halves == whole, "\(text.debugDescription) split at \(cut)")
    }
    return whole
  }

  @Test(arguments: [true, false], ["--x", "--x--", "-----WebKit"])
  func `accepts a boundary that includes the dashes of its delimiter`(isPushed: Bool, boundary: String) {
    let reading = Self.read(
      "\(boundary)\r\nA: 1\r\n\r\none\r\n\(boundary)\r\n\r\ntwo\r\n--\(boundary)\r\n\r\n\(boundary)--\r\n",
      boundary: boundary,
      isPushed: isPushed)
    // After the first delimiter, the other form of the delimiter counts as text.
    #expect(reading == Reading(bodies: ["one|", "two\r\n--\(boundary)\r\n|"], isComplete: true))
    let strict = Self.read(
      "--\(boundary)\r\n\r\none\r\n\(boundary)\r\n\r\ntwo\r\n--\(boundary)--\r\n", boundary: boundary,
      isPushed: isPushed)
    #expect(strict == Reading(bodies: ["one\r\n\(boundary)\r\n\r\ntwo|"], isComplete: true))
  }

  @Test(arguments: [
    ("Content-Type: image/jpeg\r\n\r\none\r\n--x\r\n\r\ntwo\r\n--x--", ["one|", "two|"]),
    ("\r\n\r\nX-Time: 1\r\ncontent-length: 3\r\n\r\none\r\n--x\r\n\r\ntwo\r\n--x--", ["one|", "two|"]),
    ("Content-Type: image/jpeg\n\none\n--x\n\ntwo\n--x--", ["one|", "two|"]),
    // A preamble.
    ("Content-Type: multipart/x-mixed-replace; boundary=x\r\n\r\n--x\r\n\r\ntwo\r\n--x--", ["two|"]),
    ("Content-Type: image/jpeg\r\n--x\r\n\r\ntwo\r\n--x--", ["two|"]),
    ("X-Time: 1\r\n\r\none\r\n--x\r\n\r\ntwo\r\n--x--", ["two|"]),
    ("Hello\r\nContent-Type: a/b\r\n\r\n--x\r\n\r\ntwo\r\n--x--", ["two|"]), ("--x\r\n\r\ntwo\r\n--x--", ["two|"]),
    ("\r\n--x\r\n\r\ntwo\r\n--x--", ["two|"]),
  ])
  func `does not lose a part if the first delimiter is missing`(text: String, bodies: [String]) {
    #expect(Self.read(text) == Reading(bodies: bodies, isComplete: true))
  }

  @Test func `accepts dashes in the boundary even without a first delimiter`() {
    let reading = Self.read(
      "Content-Type: a/b\r\n\r\none\r\n--a:b\r\nContent-Length: 3\r\n\r\ntwo\r\n--a:b--", boundary: "--a:b")
    #expect(reading == Reading(bodies: ["one|", "two|"], isComplete: true))
    #expect(Self.read("--a:b\r\nContent-Type: a/b\r\n\r\none\r\n--a:b--", boundary: "a:b").bodies == ["one|"])
  }

  // Elsewhere, anything before the first delimiter is a preamble, even if it looks like a header (RFC 2046 §5.1.1).
  @Test func `only a pushed stream can start without a delimiter`() {
    let text = "Content-Type: text/plain\r\n\r\none\r\n--x\r\nContent-Length: 1\r\n\r\ntwo\r\n--x--"
    #expect(Self.read(text, isPushed: false) == Reading(bodies: ["two|"], isComplete: true))
  }

  private static func frames(_ frames: (length: String, body: String)..., end: String = "\r\n--x--\r\n") -> String {
    frames.map { "\r\n--x\r\nContent-Length: \($0.length)\r\n\r\n\($0.body)" }.joined() + end
  }

  @Test(arguments: [
    (frames(("3", "one"), ("0", ""), ("5", "three")), ["one|", "|", "three|"]),
    // The body can end with a line break and contain text that looks like a delimiter.
    (
      frames(("5", "one\r\n"), ("4", "two\n"), ("4", "six\r"), ("7", "\r\n--y\r\n")),
      ["one\r\n|", "two\n|", "six\r|", "\r\n--y\r\n|"]
    ),
    // There can be any number of line breaks between the body and the delimiter.
    (frames(("3", "one--x\r\nContent-Length: 3\r\n\r\ntwo\r\n\r\n\n"), ("4", "four")), ["one|", "two|", "four|"]),
    // If the length includes the line break before the delimiter, or is too large, the delimiter ends the part.
    (frames(("5", "one"), ("4", "two")), ["one\r\n|", "two\r|"]),
    (frames(("6", "one"), ("100", "two")), ["one|", "two|"]),
    (
      frames(("\(Int.max)", "one"), ("x", "two"), ("-1", "three"), ("1, 1", "four")),
      ["one|", "two|", "three|", "four|"]
    ),
  ])
  func `a part with a Content-Length ends after that many bytes`(text: String, bodies: [String]) {
    #expect(Self.read(text) == Reading(bodies: bodies, isComplete: true))
  }

  @Test func `throws if a part is longer than its Content-Length`() {
    let reading = Self.read(Self.frames(("3", "one"), ("2", "two")))
    #expect(reading.bodies == ["one|", "tw|"])
    #expect(reading.error?.contains("part 2 is longer than its Content-Length of 2 bytes") == true)
  }

  @Test func `yields a picture before the next picture arrives`() async throws {
    let pictures = (1...3).map { Data("picture \($0)\r\n".utf8) }
    let source = ChunkSource(
      pictures.map { Data("--frame\r\nContent-Type: image/jpeg\r\nContent-Length: \($0.count)\r\n\r\n".utf8) + $0 })
    let response = HTTPResponse(
      url: .known("https://a.test"), headers: [.contentType: "Multipart/X-Mixed-Replace; boundary=--frame"],
      body: HTTPResponseBody(source))
    var parts = try response.parts(limits: MultipartLimits(parts: .max)).makeAsyncIterator()
    for (index, picture) in pictures.enumerated() {
      let part = try #require(try await parts.next())
      #expect(part.mediaType == "image/jpeg")
      #expect(try await part.body.collect() == picture && source.count == index + 1)
    }
    let error = await #expect(throws: TaskError.self) { try await parts.next() }
    #expect(error?.code == .truncatedBody)
  }
}
