import Foundation
import Testing

@testable import Errand
@testable import ErrandTransfers

/// The journal of a partial file.
@Suite(.timeLimit(.minutes(1))) struct DownloadJournalTests {
  @Test func `a strong tag is a validator, but a weak or malformed tag is not`() {
    #expect(DownloadValidator([.eTag: #""a""#])?.text == #""a""#)
    for tag in [#"W/"a""#, "a", "", #""a"#] { #expect(DownloadValidator([.eTag: tag]) == nil) }
    #expect(DownloadValidator([:]) == nil)
  }

  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:50:37 GMT", true), ("Sun, 06 Nov 1994 08:50:36 GMT", false),
    ("Sun, 06 Nov 1994 08:49:37 GMT", false), ("yesterday", false), (nil, false),
  ]) func `a date is a validator if it is at least a minute old by the server's clock`(now: String?, isStrong: Bool) {
    var headers: HTTPHeaders = [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"]
    if let now { headers[.date] = now }
    #expect((DownloadValidator(headers) != nil) == isStrong)
    headers[.eTag] = #"W/"a""#
    #expect(DownloadValidator(headers) == nil, "a date is not used if there is a tag")
  }

  @Test func `treats repeated equal validators as one and ignores contradictory validators`() {
    let same: HTTPHeaders = [.eTag: #""a""#, "etag": #""a""#]
    #expect(DownloadValidator(same)?.text == #""a""# && DownloadValidator(same)?.isOf(same) == true)
    #expect(DownloadValidator([.eTag: #""a""#, "etag": #""b""#]) == nil)
    let (modified, date) = ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:37 GMT")
    let dates: HTTPHeaders = [.lastModified: modified, "last-modified": modified, .date: date, "date": date]
    #expect(DownloadValidator(dates)?.text == modified && DownloadValidator(dates)?.isOf(dates) == true)
    #expect(DownloadValidator([.lastModified: modified, "last-modified": date, .date: date]) == nil)
    #expect(DownloadValidator([.lastModified: modified, .date: date, "date": modified]) == nil)
  }

  private func journal(_ change: (inout DownloadJournal) -> Void = { _ in }) -> DownloadJournal {
    var journal = DownloadJournal(identity: "i", validator: DownloadValidator([.eTag: #""a""#]), total: 100)
    (journal.synced, journal.boot) = (40, "now")
    change(&journal)
    return journal
  }

  @Test func `after a process crash, keeps all written bytes`() {
    #expect(journal().usable(of: 60, boot: "now") == 60)
  }

  @Test func `after a system crash, keeps only synchronized bytes`() {
    #expect(journal().usable(of: 60, boot: "later") == 40)
    #expect(journal().usable(of: 60, boot: nil) == 40)
    #expect(journal { $0.boot = nil }.usable(of: 60, boot: nil) == 40)
  }

  @Test func `rejects a file that contradicts its journal`() {
    #expect(journal().usable(of: 39, boot: "now") == 0, "the file is too short")
    #expect(journal().usable(of: 101, boot: "now") == 0, "the file is too long")
    #expect(journal { $0.validator = nil }.usable(of: 60, boot: "now") == 0)
    #expect(journal { $0.format = 2 }.usable(of: 60, boot: "now") == 0)
    #expect(journal { $0.synced = -1 }.usable(of: 60, boot: "later") == 0)
    #expect(journal().usable(of: 100, boot: "now") == 100)
  }

  @Test func `the identity of a download ignores signature parameters`() throws {
    func identity(_ text: String) throws -> String { TransferIdentity.of(try #require(URL(string: text))) }
    let plain = try identity("https://a.test/x?version=1")
    #expect(try identity("https://u:p@a.test/x?version=1&X-Amz-Date=1&X-Amz-Signature=2#f") == plain)
    #expect(try identity("https://a.test/x?Expires=1&version=1&Signature=b&Key-Pair-Id=c") == plain)
    let azure = try identity("https://a.test/x?version=1&sv=2024&st=3&se=4&sig=a")
    #expect(try identity("https://a.test/x?version=1&sv=2024&st=1&se=2&sig=b") == azure)
    for signature in ["sig", "Signature"] {
      #expect(try identity("https://a.test/x?version=1&\(signature)=b") == plain)
      for name in ["st", "policy"] {
        let (one, two) = ("https://a.test/x?\(name)=1&\(signature)=a", "https://a.test/x?\(name)=2&\(signature)=b")
        #expect(try identity(one) != identity(two), "the application may use \(name) for its own purposes")
      }
    }
    for mark in ["", "&OSSAccessKeyId=k"] {
      #expect(try identity("https://a.test/x?Expires=1&version=1&Signature=b\(mark)") == plain)
    }
    #expect(try identity("https://a.test/x?sv=720&sig=a") != identity("https://a.test/x?sv=1080&sig=a"))
    #expect(try identity("https://a.test/x?st=2025&version=1") != identity("https://a.test/x?st=2026&version=1"))
    for other in ["https://a.test/x?version=2", "https://a.test/y?version=1", "https://b.test/x?version=1"] {
      #expect(try identity(other) != plain)
    }
  }

  @Test func `uses the Repr-Digest of any response, but Content-Digest only of a complete one`() {
    let digest = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    let hexadecimal = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    #expect(TransferDigest.stated(in: [.reprDigest: "sha-256=:\(digest):"], isWhole: false) == hexadecimal)
    #expect(TransferDigest.stated(in: [.contentDigest: "sha-256=:\(digest):"], isWhole: true) == hexadecimal)
    #expect(TransferDigest.stated(in: [.contentDigest: "sha-256=:\(digest):"], isWhole: false) == nil)
    #expect(
      TransferDigest.stated(in: [.reprDigest: "sha-512=:AAAA:, sha-256=:\(digest):;q=1"], isWhole: false) == hexadecimal
    )
    #expect(TransferDigest.stated(in: [.reprDigest: "SHA-256=:\(digest):"], isWhole: false) == hexadecimal)
    for value in ["sha-256=\(digest)", "sha-256=:AAAA:", "sha-256=:\(digest)", "md5=:AAAA:", "", "sha-256=:*:"] {
      #expect(TransferDigest.stated(in: [.reprDigest: value], isWhole: true) == nil)
    }
  }

  @Test func `validates a digest when it is created`() throws {
    let hexadecimal = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    for text in [hexadecimal, " \(hexadecimal.uppercased())\n", "sha256:\(hexadecimal)", "SHA256:\(hexadecimal)"] {
      #expect(try TransferDigest.sha256(text).sha256 == hexadecimal)
    }
    for text in [
      "", "sha256:", String(hexadecimal.dropLast()), hexadecimal + "0", "sha512:\(hexadecimal)",
      String(repeating: "g", count: 64), String(repeating: "é", count: 32),
    ] {
      let error = #expect(throws: TaskError.self) { try TransferDigest.sha256(text) }
      #expect(error?.code == .badRequest && error?.reason.contains("must have 64 hexadecimal digits") == true)
    }
  }

  @Test(arguments: [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1000])
  func `a hash does not depend on how the data is chunked`(
    size: Int
  ) {
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    for piece in [1, 7, 63, 64, 65, 1000] {
      var hash = SHA256()
      for start in stride(from: 0, to: size, by: piece) { hash.update(bytes[start..<min(size, start + piece)]) }
      #expect(hash.finish() == SHA256.hash(bytes))
    }
    var loop = PortableSHA256(usesInstructions: false)
    bytes.withUnsafeBytes { loop.update(bufferPointer: $0) }
    #expect(loop.finalize() == SHA256.hash(bytes), "the loop differs from the processor's instructions")
  }

  @Test func `hashes match the SHA-256 test vectors`() {
    #expect(
      SHA256.hexadecimal(of: "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      SHA256.hexadecimal(of: "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
        == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    #expect(
      SHA256.hexadecimal(SHA256.hash(repeatElement(UInt8(ascii: "a"), count: 100_000)))
        == "6d1cf22d7cc09b085dfc25ee1a1f3ae0265804c607bc2074ad253bcc82fd81ee")
  }
}
