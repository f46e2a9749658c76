import Foundation
import Testing

@testable import Errand

/// Test cases from python-multipart's `tests/test_data/http`, with shorter boundaries.
@Suite(.timeLimit(.minutes(1))) struct PythonMultipartTests {
  private static let field = "--b\r\nContent-Disposition: form-data; name=\"field\"\r\n\r\n"

  /// Returns the name, the file name and the content of each part.
  private func read(_ body: Data, boundary: String) async throws -> [[String?]] {
    let source = ChunkSource(body.map { Data([$0]) })
    let response = HTTPResponse(
      url: .known("https://a.test"), headers: [.contentType: "multipart/form-data; boundary=\"\(boundary)\""],
      body: HTTPResponseBody(source))
    var parts: [[String?]] = []
    for try await part in try response.parts() {
      let content = String(decoding: try await part.body.collect(), as: UTF8.self)
      parts.append([part.disposition?.name, part.disposition?.fileName, content])
    }
    return parts
  }

  private static let bodies: [(body: String, parts: [[String?]])] = [
    // almost_match_boundary, and without CR, LF and the final hyphen
    (
      "\(field)--a\r\n--bq--b\rq--a\r\n--ad--\r\n--n--\r\n--b-Q\r\n--b\rQ--bQ\r\n--b--\r\n",
      [["field", nil, "--a\r\n--bq--b\rq--a\r\n--ad--\r\n--n--\r\n--b-Q\r\n--b\rQ--bQ"]]
    ),
    ("\(field)Q\r\n--bQ\r\n--b--", [["field", nil, "Q\r\n--bQ"]]),
    ("\(field)Q\r\n--b\rQ\r\n--b--", [["field", nil, "Q\r\n--b\rQ"]]),
    ("\(field)Q\r\n--b-Q\r\n--b--", [["field", nil, "Q\r\n--b-Q"]]),
    // base64_encoding, base64_encoding_whitespace, mixed_plain_and_base64_encoding, quoted_printable_encoding
    (
      "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"test.txt\"\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\nVGVzdCAxMjM=\r\n--b--\r\n",
      [["file", "test.txt", "Test 123"]]
    ),
    (
      "--b\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Transfer-Encoding:\tbase64\t\r\n\r\naGVsbG8=\r\n--b\r\nContent-Disposition: form-data; name=b\r\n\r\naGVsbG8=\r\n--b\r\nContent-Disposition: form-data; name=c\r\nCONTENT-TRANSFER-ENCODING: base64\r\n\r\nVGVzdCBzdHJpbmcuCg==\r\n--b--\r\n",
      [["a", nil, "hello"], ["b", nil, "aGVsbG8="], ["c", nil, "Test string.\n"]]
    ),
    (
      "--b\r\nContent-Disposition: form-data; name=\"f\"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nfoo=3Dbar\r\n--b--\r\n",
      [["f", nil, "foo=bar"]]
    ),
    // boundary_padding, case_insensitive_headers, crlf_dense_part_data
    (
      "\(field)first\r\n--b \t \r\ncOnTenT-DiSpOsItiOn: form-data; NAME=\"b\"\r\n\r\nsecond\r\n--b--\r\n",
      [["field", nil, "first"], ["b", nil, "second"]]
    ),
    (
      "\(field)\r\n\r\n\r\n--boundar\r\n\r\n--\r\n\r\n--b--\r\n",
      [["field", nil, "\r\n\r\n\r\n--boundar\r\n\r\n--\r\n"]]
    ),
    // empty_message
    ("--b--\r\n", []),
    // header_with_number
    (
      "--b\r\nContent-Disposition: form-data; filename=\"secret.txt\"; name=\"files\"\r\nX-Funky-Header-1: bar\r\nother!#$%&'*+-.^_`|~: baz\r\nContent-Length: 6\r\n\r\naaaaaa\r\n--b--",
      [["files", "secret.txt", "aaaaaa"]]
    ),
    // single_field_blocks, single_field_with_leading_newlines, single_field_with_trailer
    ("\(field)0123\r\n--b--\r", [["field", nil, "0123"]]), ("\r\n\r\n\(field)x\r\n--b--", [["field", nil, "x"]]),
    ("\(field)x\r\n--b--\r\nthis trailer\r\nis ignored", [["field", nil, "x"]]),
    // preamble_mime_headers
    (
      "MIME-Version: 1.0\nContent-Type: multipart/form-data; boundary=\"b\"\n\n\(field)test1\n--b--\n",
      [["field", nil, "test1"]]
    ),
  ]

  @Test(arguments: bodies)
  func `parses a body as python-multipart does`(body: String, parts: [[String?]]) async throws {
    #expect(try await read(Data(body.utf8), boundary: "b") == parts)
    // Browsers begin their boundaries with dashes.
    let long = body.replacing("--b", with: "------b")
    let expected = parts.map { $0.map { $0?.replacing("--b", with: "------b") } }
    #expect(try await read(Data(long.utf8), boundary: "----b") == expected)
  }

  @Test func `ignores a file name that follows a Latin-1 whitespace character`() async throws {
    for blank in [0xA0, 0x85] as [UInt8] {
      let body =
        Data("--b\r\nContent-Disposition: form-data; name=\"a\";".utf8) + [blank]
        + Data("filename=\"a.txt\"\r\n\r\nfirst\r\n--b--\r\n".utf8)
      #expect(try await read(body, boundary: "b") == [["a", nil, "first"]])
    }
  }

  @Test(arguments: [
    // CRLF_in_header, CR_in_header, CR_in_header_value, bad_header_char, empty_header
    "--b\r\nContent-\r\nisposition: form-data\r\n\r\nx\r\n--b--",
    "--b\r\nContent-\risposition: form-data\r\n\r\nx\r\n--b--",
    "--b\r\nContent-Disposition: form-data; n\rme=\"field\"\r\n\r\nx\r\n--b--",
    "--b\r\nContent-<<<position: a\r\n\r\nx\r\n--b--",
    "--b\r\n: form-data; name=\"field\"\r\n\r\nx\r\n--b--",
    // bad_end_of_headers, bad_initial_boundary, empty_message_with_bad_end
    "--b\r\nContent-Disposition: form-data; name=\"field\"\r\n\rQx\r\n--b--",
    "--q\r\nContent-Disposition: form-data; name=\"field\"\r\n\r\nx\r\n--b--", "--b-X\r\n",
  ])
  func `rejects a body that python-multipart rejects`(body: String) async throws {
    await #expect(throws: TaskError.self) { try await read(Data(body.utf8), boundary: "b") }
  }
}
