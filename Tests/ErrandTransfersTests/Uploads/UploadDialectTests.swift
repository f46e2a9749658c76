import Foundation
import Testing

@testable import Errand
@testable import ErrandTransfers

/// The upload protocols, and how a file is split into chunks.
@Suite(.timeLimit(.minutes(1))) struct UploadDialectTests {
  private static let url = URL(fileURLWithPath: "/")
  private let source = UploadSource(fileName: "a b.txt", length: 10, type: .plainText)

  private func pieces(_ length: Int64, _ chunk: Int64, _ granularity: Int = 1) -> [Int64] {
    let session = UploadSession(location: Self.url, granularity: granularity)
    let slices = UploadSlices(length: length, chunkSize: chunk, session)
    var (sizes, offset) = ([Int64](), Int64(0))
    while true {
      let piece = slices.piece(at: offset)
      sizes.append(piece.count)
      offset += piece.count
      if piece.isLast { return sizes }
    }
  }

  @Test func `splits a file into multiples of the granularity and avoids a small last chunk`() {
    #expect(pieces(199_000, 75_000) == [75_000, 75_000, 49_000])
    #expect(pieces(199_000, 75_000, 66_666) == [66_666, 66_666, 65_668])
    #expect(pieces(0, 75_000) == [0])
    #expect(pieces(75_000, 75_000) == [75_000])
    #expect(pieces(77_499, 75_000) == [77_499] && pieces(77_500, 75_000) == [75_000, 2500])
    #expect(pieces(100_000, 10, 40_000) == [40_000, 40_000, 20_000], "a chunk is at least as large as the granularity")
    #expect(pieces(.max, .max) == [.max])
  }

  private func tus(_ status: HTTPStatus, _ headers: HTTPHeaders = [:], query: Bool = false)
    -> UploadPosition
  {
    let piece = UploadPiece(offset: 5, count: 5, isLast: true)
    return TusUpload().position(
      UploadAnswer(status, headers: headers, url: Self.url), after: query ? nil : piece)
  }

  @Test func `tus sends the length and metadata first`() throws {
    let request = TusUpload(metadata: ["secret": ""]).begin(source)
    #expect(request.method == .post && request.headers["Tus-Resumable"] == "1.0.0")
    #expect(request.headers["Upload-Length"] == "10")
    #expect(
      request.headers["Upload-Metadata"] == "filename YSBiLnR4dA==,filetype dGV4dC9wbGFpbg==,secret"
    )
    let url = try #require(URL(string: "https://a.test/files/"))
    let begun = try TusUpload().begun(UploadAnswer(.created, headers: [.location: "7?x"], url: url))
    #expect(begun == UploadSession(location: try #require(URL(string: "https://a.test/files/7?x"))))
    #expect(throws: TaskError.self) { try TusUpload().begun(UploadAnswer(.created, url: url)) }
    #expect(throws: TaskError.self) {
      try TusUpload().begun(UploadAnswer(.ok, headers: [.location: "7"], url: url))
    }
  }

  @Test func `tus continues at the server's offset`() {
    #expect(
      tus(204, ["Upload-Offset": "10"]) == .at(10)
        && tus(200, ["Upload-Offset": "3"], query: true) == .at(3))
    #expect(tus(204) == .unknown && tus(200, query: true) == .failed)
    #expect(tus(204, ["Upload-Offset": "-1"]) == .unknown)
    for status in [409, 423, 460] { #expect(tus(HTTPStatus(status)) == .unknown) }
    for status in [404, 410] { #expect(tus(HTTPStatus(status)) == .gone) }
    #expect(
      tus(403, query: true) == .failed && tus(403) == .failed && tus(500) == .failed
        && tus(413) == .failed)
  }

  private func google(_ status: HTTPStatus, _ headers: HTTPHeaders = [:], count: Int64? = 5)
    -> UploadPosition
  {
    let piece = count.map { UploadPiece(offset: 5, count: $0, isLast: true) }
    return GoogleUpload().position(
      UploadAnswer(status, headers: headers, url: Self.url), after: piece)
  }

  @Test func `Google's commands describe the chunk`() {
    let session = UploadSession(location: Self.url)
    func command(_ count: Int64, isLast: Bool) -> String? {
      let request = GoogleUpload().send(
        UploadPiece(offset: 5, count: count, isLast: isLast), of: session)
      #expect(request.method == .put && request.headers["X-Goog-Upload-Offset"] == "5")
      return request.headers["X-Goog-Upload-Command"]
    }
    #expect(command(5, isLast: false) == "upload" && command(5, isLast: true) == "upload, finalize")
    #expect(command(0, isLast: true) == "finalize")
    let begin = GoogleUpload().begin(source)
    #expect(begin.method == .post && begin.headers["X-Goog-Upload-Command"] == "start")
    #expect(begin.headers["X-Goog-Upload-Protocol"] == "resumable")
    #expect(begin.headers["X-Goog-Upload-Content-Type"] == "text/plain")
    #expect(begin.headers["X-Goog-Upload-Content-Length"] == "10")
    #expect(GoogleUpload().query(session).headers["X-Goog-Upload-Command"] == "query")
    #expect(GoogleUpload().cancel(session)?.headers["X-Goog-Upload-Command"] == "cancel")
  }

  @Test func `Google's responses contain the status and the progress`() {
    #expect(google(200, ["X-Goog-Upload-Status": "active"]) == .at(10))
    #expect(
      google(200, ["X-Goog-Upload-Status": "active", "X-Goog-Upload-Size-Received": "7"]) == .at(7))
    #expect(
      google(
        200, ["X-Goog-Upload-Status": "active", "X-Goog-Upload-Size-Received": "7"], count: nil)
        == .at(7))
    #expect(google(200, ["X-Goog-Upload-Status": "active"], count: nil) == .failed)
    #expect(google(200, ["X-Goog-Upload-Status": "final"]) == .finished)
    #expect(google(200, ["X-Goog-Upload-Status": "final"], count: nil) == .finished)
    #expect(google(500, ["X-Goog-Upload-Status": "final"]) == .failed)
    #expect(google(200, ["X-Goog-Upload-Status": "cancelled"]) == .failed)
    #expect(google(200) == .failed && google(200, ["X-Goog-Upload-Status": "odd"]) == .failed)
    #expect(google(400, ["X-Goog-Upload-Status": "active"]) == .unknown, "a status query is needed")
    #expect(google(400, ["X-Goog-Upload-Status": "active"], count: 0) == .failed)
    #expect(google(400, ["X-Goog-Upload-Status": "active"], count: nil) == .failed)
    #expect(google(404, ["X-Goog-Upload-Status": "active"]) == .failed)
  }

  private func ietf(_ status: HTTPStatus, _ headers: HTTPHeaders = [:], isLast: Bool? = true) -> UploadPosition {
    let piece = isLast.map { UploadPiece(offset: 5, count: 5, isLast: $0) }
    return IETFUpload().position(UploadAnswer(status, headers: headers, url: Self.url), after: piece)
  }

  @Test func `the IETF draft's responses contain the progress or a rejection`() {
    #expect(
      ietf(200, ["Upload-Complete": "?1"]) == .finished
        && ietf(204, ["Upload-Complete": "?1"], isLast: nil) == .finished)
    #expect(
      ietf(500, ["Upload-Complete": "?1;x=1"]) == .rejected && ietf(422, ["Upload-Complete": " ?1 "]) == .rejected)
    #expect(ietf(200) == .unknown, "a status query is needed")
    #expect(ietf(204, isLast: false) == .at(10) && ietf(204, ["Upload-Offset": "7"], isLast: false) == .at(7))
    #expect(ietf(204, ["Upload-Offset": "7"], isLast: nil) == .at(7) && ietf(204, isLast: nil) == .failed)
    #expect(ietf(204, ["Upload-Offset": "-7"], isLast: nil) == .failed)
    #expect(ietf(409) == .unknown && ietf(404) == .gone && ietf(410, isLast: nil) == .gone && ietf(500) == .failed)
  }

  @Test func `treats repeated equal header lines as one and ignores contradictory lines`() {
    #expect(
      tus(204, ["Upload-Offset": "10", "upload-offset": "10"]) == .at(10)
        && tus(204, ["Upload-Offset": "10, 10"]) == .at(10))
    #expect(tus(204, ["Upload-Offset": "3", "upload-offset": "10"]) == .unknown)
    #expect(tus(204, ["Upload-Offset": "+3"]) == .unknown)
    let active: HTTPHeaders = ["X-Goog-Upload-Status": "active", "x-goog-upload-status": "active"]
    #expect(google(200, active) == .at(10))
    #expect(google(200, ["X-Goog-Upload-Status": "active", "X-Goog-Upload-Size-Received": "7, 7"]) == .at(7))
    #expect(google(200, ["X-Goog-Upload-Status": "active", "x-goog-upload-status": "final"]) == .failed)
    #expect(ietf(200, ["Upload-Complete": "?1", "upload-complete": "?1"]) == .finished)
    #expect(ietf(204, ["Upload-Offset": "7", "upload-offset": "7"], isLast: nil) == .at(7))
  }

  @Test func `without progress, delays grow from zero to eight seconds before the upload fails`() {
    var backoff = UploadBackoff()
    let delays: [Duration?] = [.zero, .seconds(1), .seconds(2), .seconds(4), .seconds(8), nil, nil]
    #expect(delays.map { _ in backoff.detour() } == delays)
    backoff.end()
    #expect(backoff.detour() == .zero)
  }

  @Test func `checksums match RFC 3174, regardless of how the data is chunked`() {
    func sha1(_ bytes: [UInt8], by count: Int) -> String {
      var hash = UploadChecksum.sha1.hash
      for start in stride(from: 0, to: bytes.count, by: count) {
        hash.update(bytes[start..<min(start + count, bytes.count)])
      }
      return SHA256.hexadecimal(hash.finish())
    }
    #expect(sha1([], by: 1) == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
    #expect(sha1(Array("abc".utf8), by: 1) == "a9993e364706816aba3e25717850c26c9cd0d89d")
    let text = Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8)
    for count in [1, 7, 56, 64] { #expect(sha1(text, by: count) == "84983e441c3bd26ebaae4aa1f95129e5e54670f1") }
    let million = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
    #expect(sha1(million, by: 999) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f")
  }
}
