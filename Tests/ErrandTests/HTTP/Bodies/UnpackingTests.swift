#if os(Linux)
  import ErrandTesting
  import Foundation
  import Testing

  @testable import Errand

  @Suite(.timeLimit(.minutes(1))) struct UnpackingTests {
    /// A compressed body and the name of its coding.
    struct Sample: CustomTestStringConvertible {
      let name: String
      let coding: ContentCoding
      let compressed: Data
      var isChecked = true
      var testDescription: String { name }

      static let all = [
        Sample(name: "gzip", coding: .gzip, compressed: CompressedSample.gzip),
        Sample(name: "deflate", coding: .deflate, compressed: CompressedSample.zlib),
        Sample(
          name: "deflate without its header", coding: .deflate, compressed: CompressedSample.deflate, isChecked: false),
        Sample(name: "br", coding: .brotli, compressed: CompressedSample.brotli, isChecked: false),
        Sample(name: "zstd", coding: .zstd, compressed: CompressedSample.zstd),
      ].filter(\.coding.isAvailable)
    }

    private static let limits = DecodingLimits(maximumSize: 16 << 30, maximumRatio: 200)

    private func decompressing(
      _ codings: [ContentCoding], _ limits: DecodingLimits = Self.limits, mayBeEmpty: Bool = false
    ) -> Unpacking {
      Unpacking(codings, limits, mayBeEmpty: mayBeEmpty)
    }

    /// Decompresses a body that arrives in pieces of `pieceSize` bytes.
    private func chunks(_ decompressing: consuming Unpacking, of compressed: Data, pieceSize: Int = .max) throws
      -> [Data]
    {
      var pieces = stride(from: 0, to: compressed.count, by: min(pieceSize, max(compressed.count, 1))).map {
        compressed[$0..<min($0 + min(pieceSize, compressed.count), compressed.count)]
      }[...]
      var chunks: [Data] = []
      while true {
        switch try decompressing.next() {
        case .take(let chunk): chunks.append(chunk)
        case .wants: decompressing.feed(pieces.popFirst())
        case .end: return chunks
        }
      }
    }

    private func text(_ codings: [ContentCoding], _ compressed: Data, pieceSize: Int = .max) throws -> Data {
      try chunks(decompressing(codings), of: compressed, pieceSize: pieceSize).reduce(Data(), +)
    }

    private func error(_ codings: [ContentCoding], _ compressed: Data) -> TaskError? {
      #expect(throws: TaskError.self) { try text(codings, compressed) }
    }

    // MARK: Whole bodies

    @Test(arguments: Sample.all)
    func `decompresses a body, regardless of how it is chunked`(sample: Sample) throws {
      for size in [.max, 1, 7, sample.compressed.count - 1] {
        #expect(try text([sample.coding], sample.compressed, pieceSize: size) == CompressedSample.text)
      }
    }

    @Test(arguments: Sample.all)
    func `decompresses a collected body`(sample: Sample) throws {
      for limit in [.max, CompressedSample.text.count] {
        var decompressing = decompressing([sample.coding])
        #expect(try wants(decompressing.whole(upTo: limit)))
        decompressing.feed(sample.compressed)
        #expect(try wants(decompressing.whole(upTo: limit)))
        decompressing.feed(nil)
        guard case .take(let data) = try decompressing.whole(upTo: limit) else { throw CocoaError(.coderReadCorrupt) }
        #expect(data == CompressedSample.text && decompressing.decoded == 504)
        guard case .end = try decompressing.whole(upTo: limit) else { throw CocoaError(.coderReadCorrupt) }
      }
    }

    private func wants(_ step: Unpacking.Reading) -> Bool {
      if case .wants = step { true } else { false }
    }

    @Test func `joins gzip members and zstd frames, and skips skippable frames`() throws {
      #expect(
        try text([.gzip], CompressedSample.gzip + CompressedSample.gzip, pieceSize: 5) == CompressedSample.text
          + CompressedSample.text)
      guard ContentCoding.zstd.isAvailable else { return }
      let skipped = Data([0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3])
      for size in [.max, 1] {
        let body = skipped + CompressedSample.zstd + skipped + CompressedSample.zstd + skipped
        #expect(try text([.zstd], body, pieceSize: size) == CompressedSample.text + CompressedSample.text)
      }
    }

    @Test func `decompresses a body that was compressed twice`() throws {
      // Use a stored block so that the test can write the outer layer itself.
      let inner = CompressedSample.zlib
      let size = UInt16(inner.count)
      let stored = Data([1, UInt8(size & 0xFF), UInt8(size >> 8), UInt8(~size & 0xFF), UInt8(~size >> 8)]) + inner
      #expect(try text([.deflate, .deflate], stored) == CompressedSample.text)
      #expect(try text([.deflate, .deflate], stored, pieceSize: 1) == CompressedSample.text)
      for count in 0..<stored.count {
        #expect(error([.deflate, .deflate], stored.prefix(count))?.code == .truncatedBody)
      }
    }

    @Test func `accepts an empty body only if allowed`() throws {
      for coding in ContentCoding.allCases {
        #expect(try chunks(decompressing([coding], mayBeEmpty: true), of: Data()).isEmpty)
        #expect(error([coding], Data())?.code == .truncatedBody)
      }
    }

    // MARK: Truncated and damaged bodies

    @Test(arguments: Sample.all)
    func `throws .truncatedBody for a body truncated at any byte`(sample: Sample) {
      for count in 0..<sample.compressed.count {
        let error = error([sample.coding], sample.compressed.prefix(count))
        #expect(error?.code == .truncatedBody, "truncated after \(count) bytes: \(String(describing: error))")
        #expect(throws: TaskError.self) { try collected(sample.coding, sample.compressed.prefix(count)) }
      }
    }

    private func collected(_ coding: ContentCoding, _ compressed: Data) throws {
      var decompressing = decompressing([coding], mayBeEmpty: false)
      if !compressed.isEmpty { decompressing.feed(compressed) }
      decompressing.feed(nil)
      _ = try decompressing.whole(upTo: .max)
    }

    @Test(arguments: Sample.all.filter(\.isChecked))
    func `detects corruption anywhere in a body with a checksum`(sample: Sample) throws {
      // Some header fields of gzip and zlib do not affect the content.
      let start = sample.coding == .gzip ? 2 : 4
      for index in start..<sample.compressed.count {
        var compressed = sample.compressed
        compressed[compressed.startIndex + index] ^= 0x55
        // Harmless changes must leave the text unchanged.
        let text = try? text([sample.coding], compressed)
        #expect(text == nil || text == CompressedSample.text, "byte \(index) was changed")
        if index >= sample.compressed.count - 4 {
          #expect(error([sample.coding], compressed)?.code == .badResponse, "byte \(index) was changed")
        }
      }
    }

    @Test(arguments: Sample.all)
    func `rejects trailing bytes`(sample: Sample) {
      for size in [1, 100] {
        let error = error([sample.coding], sample.compressed + Data(repeating: 0x20, count: size))
        #expect(error?.code == .badResponse && error?.reason.contains("follow the end") == true)
      }
    }

    @Test(arguments: Sample.all)
    func `ignores trailing zeros`(sample: Sample) throws {
      for (count, size) in [(1, .max), (1, 1), (10_000, .max), (100, 7)] {
        #expect(
          try text([sample.coding], sample.compressed + Data(count: count), pieceSize: size) == CompressedSample.text)
        let error = error([sample.coding], sample.compressed + Data(count: count) + Data([1]))
        #expect(error?.reason.contains("lenientDecompression") == true)
      }
      #expect(error([sample.coding], sample.compressed + Data(count: 1 << 20 + 1))?.code == .badResponse)
    }

    @Test func `ignores trailing zeros after each of two codings`() throws {
      let inner = CompressedSample.zlib + Data(count: 9)
      let size = UInt16(inner.count)
      let stored = Data([1, UInt8(size & 0xFF), UInt8(size >> 8), UInt8(~size & 0xFF), UInt8(~size >> 8)]) + inner
      #expect(try text([.deflate, .deflate], stored + Data(count: 9), pieceSize: 3) == CompressedSample.text)
    }

    private func leniently(_ coding: ContentCoding, _ compressed: Data, pieceSize: Int = .max) throws -> Data {
      let limits = DecodingLimits(maximumSize: 1 << 30, maximumRatio: 200, isLenient: true)
      return try chunks(decompressing([coding], limits), of: compressed, pieceSize: pieceSize).reduce(Data(), +)
    }

    @Test(arguments: Sample.all)
    func `ignores trailing bytes only in lenient mode`(sample: Sample) throws {
      for junk in ["x", "<!-- cached -->", "\0\0junk"] {
        let body = sample.compressed + Data(junk.utf8)
        #expect(error([sample.coding], body)?.reason.contains("lenientDecompression") == true)
        for size in [.max, 1] { #expect(try leniently(sample.coding, body, pieceSize: size) == CompressedSample.text) }
      }
      #expect(throws: TaskError.self) {
        try leniently(sample.coding, sample.compressed + Data(repeating: 1, count: 1 << 20 + 1))
      }
    }

    @Test(arguments: [(ContentCoding.gzip, CompressedSample.gzip, 8), (.deflate, CompressedSample.zlib, 4)])
    func `accepts a missing checksum only in lenient mode`(coding: ContentCoding, compressed: Data, checksum: Int)
      throws
    {
      for missing in 1...checksum {
        let body = compressed.dropLast(missing)
        let error = error([coding], body)
        #expect(error?.code == .truncatedBody && error?.reason.contains("lenientDecompression") == true, "\(missing)")
        for size in [.max, 1] { #expect(try leniently(coding, body, pieceSize: size) == CompressedSample.text) }
      }
      for count in 0..<(compressed.count - checksum) {
        let error = #expect(throws: TaskError.self) { try leniently(coding, compressed.prefix(count)) }
        #expect(
          error?.code == .truncatedBody && error?.reason.contains("lenient") == false, "truncated after \(count) bytes")
      }
      let damaged = compressed.dropLast(checksum) + Data(count: checksum)
      #expect(throws: TaskError.self) { try leniently(coding, damaged) }
    }

    @Test func `rejects a truncated second member even in lenient mode`() {
      for count in [1, 12, CompressedSample.gzip.count / 2] {
        let body = CompressedSample.gzip + CompressedSample.gzip.prefix(count)
        let error = #expect(throws: TaskError.self) { try leniently(.gzip, body) }
        #expect(
          error?.code == .truncatedBody && error?.reason.contains("lenient") == false, "truncated after \(count) bytes")
      }
    }

    @Test func `the error names the actual coding if it differs from the declared one`() {
      #expect(error([.deflate], CompressedSample.gzip)?.reason == "Content-Encoding is deflate, but the body is gzip")
      for (coding, compressed) in [(.gzip, CompressedSample.zlib), (.gzip, CompressedSample.text)]
        as [(ContentCoding, Data)]
      {
        let error = error([coding], compressed)
        #expect(error?.code == .badResponse && error?.reason.contains("is not valid gzip") == true)
      }
      for sample in Sample.all where sample.coding == .brotli || sample.coding == .zstd {
        #expect(error([sample.coding], CompressedSample.gzip)?.code == .badResponse)
      }
    }

    @Test func `yields the output before a failure, then throws on every read`() throws {
      var decompressing = decompressing([.gzip])
      decompressing.feed(CompressedSample.gzip.dropLast(8) + Data(count: 8))
      guard case .take(let chunk) = try decompressing.next() else { throw CocoaError(.coderReadCorrupt) }
      #expect(chunk == CompressedSample.text)
      for _ in 0..<2 {
        let error = #expect(throws: TaskError.self) { try decompressing.next() }
        #expect(error?.code == .badResponse)
      }
    }

    // MARK: Limits

    @Test func `limits a chunk to 64 KiB`() throws {
      let limits = DecodingLimits(maximumSize: 1 << 30, maximumRatio: 2000)
      let sizes = try chunks(decompressing([.gzip], limits), of: CompressedSample.zeros).map(\.count)
      #expect(sizes.max() == 64 << 10)
      #expect(sizes.reduce(0, +) == CompressedSample.zerosCount)
    }

    @Test func `limits the decompression ratio to 200 once a body exceeds 16 MB`() throws {
      #expect(try text([.gzip], CompressedSample.zeros).count == CompressedSample.zerosCount)
      var compressed = Data()
      for _ in 0..<3 { compressed += CompressedSample.zeros }
      let error = error([.gzip], compressed)
      #expect(error?.code == .bodyTooLarge)
      #expect(error?.reason.contains("maximumDecodingRatio") == true)
      var decompressing = decompressing([.gzip])
      decompressing.feed(compressed)
      #expect(throws: TaskError.self) { try decompressing.whole(upTo: .max) }
      #expect(decompressing.decoded <= 16 << 20 + 64 << 10, "\(decompressing.decoded)")
      guard ContentCoding.brotli.isAvailable else { return }
      #expect(self.error([.brotli], CompressedSample.brotliZeros)?.code == .bodyTooLarge)
    }

    @Test(.enabled(if: ContentCoding.zstd.isAvailable))
    func `the decompression ratio includes the intermediate data between two codings`() throws {
      // A gzipped, skippable zstd frame, which the gzip stage expands and the zstd stage discards.
      let skipped = try #require(Data(base64Encoded: "H4sIAAAAAAACA4vS8pX4//9/PQCHMFwaCAAAAA=="))
      var decompressing = decompressing([.zstd, .gzip])
      decompressing.feed(skipped + CompressedSample.zeros + CompressedSample.zeros + CompressedSample.zeros)
      let error = #expect(throws: TaskError.self) { try decompressing.next() }
      #expect(error?.code == .bodyTooLarge && decompressing.decoded == 0)
    }

    @Test func `the maximum size applies independently of the decompression ratio`() {
      let limits = DecodingLimits(maximumSize: 1000, maximumRatio: 200)
      var decompressing = decompressing([.gzip], limits)
      decompressing.feed(CompressedSample.gzip + CompressedSample.gzip)
      let error = #expect(throws: TaskError.self) { try decompressing.whole(upTo: .max) }
      #expect(error?.code == .bodyTooLarge && error?.reason.contains("1000 bytes") == true)
    }

    @Test func `stops decompressing at the limit for collecting the body`() throws {
      var decompressing = decompressing([.gzip])
      decompressing.feed(CompressedSample.zeros)
      let error = #expect(throws: HTTPBodyLimitError.self) { try decompressing.whole(upTo: 100_000) }
      #expect(error?.limit == 100_000)
      #expect(decompressing.decoded == 100_001)
    }

    @Test(.enabled(if: ContentCoding.zstd.isAvailable))
    func `rejects a zstd frame with a window above 8 MB`() throws {
      // RFC 8878 §3.1.1: a frame with no checksum, a window of 2^(10 + exponent) bytes and one raw block of one byte.
      func frame(_ exponent: UInt8) -> Data { Data([0x28, 0xB5, 0x2F, 0xFD, 0, exponent << 3, 9, 0, 0, 0x61]) }
      #expect(try text([.zstd], frame(13)) == Data("a".utf8))
      #expect(error([.zstd], frame(14))?.code == .badResponse)
    }

    @Test(.enabled(if: ContentCoding.brotli.isAvailable))
    func `rejects large-window brotli`() {
      #expect(error([.brotli], Data([0x11, 0x1A, 0, 0, 0, 0]))?.code == .badResponse)
    }
  }
#endif
