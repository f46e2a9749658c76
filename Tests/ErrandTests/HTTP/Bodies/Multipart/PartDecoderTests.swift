import Foundation
import Testing

@testable import Errand

/// Parts with a `Content-Transfer-Encoding` (RFC 2045 §6).
@Suite(.timeLimit(.minutes(1))) struct PartDecoderTests {
  private func parts(_ encoding: String, _ body: String, by size: Int) async throws -> [(HTTPHeaders, String)] {
    let text = "--b\r\nContent-Transfer-Encoding: \(encoding)\r\n\r\n\(body)\r\n--b--"
    let bytes = Data(text.utf8)
    let source = ChunkSource(
      stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min(bytes.count, $0 + min(size, bytes.count))] })
    let response = HTTPResponse(
      url: .known("https://a.test"), headers: [.contentType: "multipart/mixed; boundary=b"],
      body: HTTPResponseBody(source))
    var parts: [(HTTPHeaders, String)] = []
    for try await part in try response.parts() {
      parts.append((part.headers, String(decoding: try await part.body.collect(), as: UTF8.self)))
    }
    return parts
  }

  @Test(arguments: [
    ("base64", "VGVzdCAxMjM=", "Test 123"), ("BASE64", "VGVz\r\ndCAx MjM=\r\n", "Test 123"), ("base64", "", ""),
    ("base64", "VGVzdCAxMjM", "Test 123"), ("base64", "w6k=", "é"), ("quoted-printable", "foo=3Dbar", "foo=bar"),
    ("Quoted-Printable", "a=\r\nb=\nc=c3=A9 \r\nd", "abcé \r\nd"), ("quoted-printable", "a=", "a"),
    ("quoted-printable", "", ""), ("8bit", "a=3D", "a=3D"), ("binary", "w6k=", "w6k="), ("x-own", "w6k=", "w6k="),
  ])
  func `decodes an encoded part, regardless of how it is chunked`(encoding: String, body: String, content: String)
    async throws
  {
    for size in [1, 3, 1000] {
      let parts = try await parts(encoding, body, by: size)
      #expect(parts.map(\.1) == [content])
      #expect(parts[0].0.contains("Content-Transfer-Encoding") == ["8bit", "binary", "x-own"].contains(encoding))
    }
  }

  @Test(arguments: [
    ("base64", "VGVz!CAxMjM="), ("base64", "VGVzd"), ("base64", "VG=zdCAx"), ("base64", "VA==VGVz"),
    ("base64", "===="), ("quoted-printable", "a=zz"), ("quoted-printable", "a=3"), ("quoted-printable", "a= b"),
  ])
  func `rejects an invalidly encoded part`(encoding: String, body: String) async throws {
    for size in [1, 3, 1000] {
      let error = await #expect(throws: TaskError.self) { try await parts(encoding, body, by: size) }
      #expect(error?.code == .badResponse && error?.reason.contains(encoding) == true, "\(body) in pieces of \(size)")
    }
  }
}
