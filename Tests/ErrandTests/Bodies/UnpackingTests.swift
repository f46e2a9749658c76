#if os(Linux)
  import ErrandTesting
  import Foundation
  import Testing

  @testable import Errand

  @Suite(.timeLimit(.minutes(1))) struct UnpackingTests {
    /// A body in one coding, and the name of the coding.
    struct Sample: CustomTestStringConvertible {
      let name: String
      let coding: ContentCoding
      let packed: Data
      var isChecked = true
      var testDescription: String { name }

      static let all = [
        Sample(name: "gzip", coding: .gzip, packed: PackedSample.gzip),
        Sample(name: "deflate", coding: .deflate, packed: PackedSample.zlib),
        Sample(name: "deflate without its header", coding: .deflate, packed: PackedSample.deflate, isChecked: false),
        Sample(name: "br", coding: .brotli, packed: PackedSample.brotli, isChecked: false),
        Sample(name: "zstd", coding: .zstd, packed: PackedSample.zstd),
      ].filter(\.coding.isAvailable)
    }

    private static let limits = DecodingLimits(maximumSize: 16 << 30, maximumRatio: 200)

    private func unpacking(
      _ codings: [ContentCoding], _ limits: DecodingLimits = Self.limits, mayBeEmpty: Bool = false
    ) -> Unpacking {
      Unpacking(codings, limits, mayBeEmpty: mayBeEmpty)
    }

    /// Decompresses a body that arrives in pieces of `pieceSize` bytes.
    private func chunks(_ unpacking: consuming Unpacking, of packed: Data, pieceSize: Int = .max) throws -> [Data] {
      var pieces = stride(from: 0, to: packed.count, by: min(pieceSize, max(packed.count, 1))).map {
        packed[$0..<min($0 + min(pieceSize, packed.count), packed.count)]
      }[...]
      var chunks: [Data] = []
      while true {
        switch try unpacking.next() {
        case .take(let chunk): chunks.append(chunk)
        case .wants: unpacking.feed(pieces.popFirst())
        case .end: return chunks
        }
      }
    }

    private func text(_ codings: [ContentCoding], _ packed: Data, pieceSize: Int = .max) throws -> Data {
      try chunks(unpacking(codings), of: packed, pieceSize: pieceSize).reduce(Data(), +)
    }

    private func error(_ codings: [ContentCoding], _ packed: Data) -> TaskError? {
      #expect(throws: TaskError.self) { try text(codings, packed) }
    }

    // MARK: Whole bodies

    @Test(arguments: Sample.all)
    func `decompresses a body, regardless of how it is chunked`(sample: Sample) throws {
      for size in [.max, 1, 7, sample.packed.count - 1] {
        #expect(try text([sample.coding], sample.packed, pieceSize: size) == PackedSample.text)
      }
    }

    @Test(arguments: Sample.all)
    func `decompresses a collected body`(sample: Sample) throws {
      for limit in [.max, PackedSample.text.count] {
        var unpacking = unpacking([sample.coding])
        #expect(try wants(unpacking.whole(upTo: limit)))
        unpacking.feed(sample.packed)
        #expect(try wants(unpacking.whole(upTo: limit)))
        unpacking.feed(nil)
        guard case .take(let data) = try unpacking.whole(upTo: limit) else { throw CocoaError(.coderReadCorrupt) }
        #expect(data == PackedSample.text && unpacking.decoded == 504)
        guard case .end = try unpacking.whole(upTo: limit) else { throw CocoaError(.coderReadCorrupt) }
      }
    }

    private func wants(_ step: Unpacking.Reading) -> Bool {
      if case .wants = step { true } else { false }
    }

    @Test func `joins several gzip members and zstd frames and skips skippable frames`() throws {
      #expect(
        try text([.gzip], PackedSample.gzip + PackedSample.gzip, pieceSize: 5) == PackedSample.text + PackedSample.text)
      guard ContentCoding.zstd.isAvailable else { return }
      let skipped = Data([0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3])
      for size in [.max, 1] {
        let body = skipped + PackedSample.zstd + skipped + PackedSample.zstd + skipped
        #expect(try text([.zstd], body, pieceSize: size) == PackedSample.text + PackedSample.text)
      }
    }

    @Test func `decompresses a body that was compressed twice`() throws {
      // Use a stored block, so the test can write the outer layer itself.
      let inner = PackedSample.zlib
      let size = UInt16(inner.count)
      let stored = Data([1, UInt8(size & 0xFF), UInt8(size >> 8), UInt8(~size & 0xFF), UInt8(~size >> 8)]) + inner
      #expect(try text([.deflate, .deflate], stored) == PackedSample.text)
      #expect(try text([.deflate, .deflate], stored, pieceSize: 1) == PackedSample.text)
      for count in 0..<stored.count {
        #expect(error([.deflate, .deflate], stored.prefix(count))?.code == .truncatedBody)
      }
    }

    @Test func `accepts an empty body only if it is allowed`() throws {
      for coding in ContentCoding.allCases {
        #expect(try chunks(unpacking([coding], mayBeEmpty: true), of: Data()).isEmpty)
        #expect(error([coding], Data())?.code == .truncatedBody)
      }
    }

    // MARK: Truncated and damaged bodies

    @Test(arguments: Sample.all)
    func `throws .truncatedBody for a body truncated anywhere`(sample: Sample) {
      for count in 0..<sample.packed.count {
        let error = error([sample.coding], sample.packed.prefix(count))
        #expect(error?.code == .truncatedBody, "after \(count) bytes: \(String(describing: error))")
        #expect(throws: TaskError.self) { try collected(sample.coding, sample.packed.prefix(count)) }
      }
    }

    private func collected(_ coding: ContentCoding, _ packed: Data) throws {
      var unpacking = unpacking([coding], mayBeEmpty: false)
      if !packed.isEmpty { unpacking.feed(packed) }
      unpacking.feed(nil)
      _ = try unpacking.whole(upTo: .max)
    }

    @Test(arguments: Sample.all.filter(\.isChecked))
    func `detects damage anywhere in a checksummed body`(sample: Sample) throws {
      // Some header fields of gzip and zlib do not affect the content.
      let start = sample.coding == .gzip ? 2 : 4
      for index in start..<sample.packed.count {
        var packed = sample.packed
        packed[packed.startIndex + index] ^= 0x55
        // Harmless changes must leave the text unchanged.
        let text = try? text([sample.coding], packed)
        #expect(text == nil || text == PackedSample.text, "byte \(index)")
        if index >= sample.packed.count - 4 {
          #expect(error([sample.coding], packed)?.code == .badResponse, "byte \(index)")
        }
      }
    }

    @Test(arguments: Sample.all)
    func `rejects trailing bytes`(sample: Sample) {
      for size in [1, 100] {
        let error = error([sample.coding], sample.packed + Data(repeating: 0x20, count: size))
        #expect(error?.code == .badResponse && error?.reason.contains("follow the end") == true)
      }
    }

    @Test(arguments: Sample.all)
    func `ignores trailing zeros`(sample: Sample) throws {
      for (count, size) in [(1, .max), (1, 1), (10_000, .max), (100, 7)] {
        #expect(try text([sample.coding], sample.packed + Data(count: count), pieceSize: size) == PackedSample.text)
        let error = error([sample.coding], sample.packed + Data(count: count) + Data([1]))
        #expect(error?.reason.contains("lenientDecompression") == true)
      }
      #expect(error([sample.coding], sample.packed + Data(count: 1 << 20 + 1))?.code == .badResponse)
    }

    @Test func `ignores trailing zeros after each of two codings`() throws {
      let inner = PackedSample.zlib + Data(count: 9)
      let size = UInt16(inner.count)
      let stored = Data([1, UInt8(size & 0xFF), UInt8(size >> 8), UInt8(~size & 0xFF), UInt8(~size >> 8)]) + inner
      #expect(try text([.deflate, .deflate], stored + Data(count: 9), pieceSize: 3) == PackedSample.text)
    }

    private func leniently(_ coding: ContentCoding, _ packed: Data, pieceSize: Int = .max) throws -> Data {
      let limits = DecodingLimits(maximumSize: 1 << 30, maximumRatio: 200, isLenient: true)
      return try chunks(unpacking([coding], limits), of: packed, pieceSize: pieceSize).reduce(Data(), +)
    }

    @Test(arguments: Sample.all)
    func `ignores trailing bytes only in lenient mode`(sample: Sample) throws {
      for junk in ["x", "<!-- cached -->", "\0\0junk"] {
        let body = sample.packed + Data(junk.utf8)
        #expect(error([sample.coding], body)?.reason.contains("lenientDecompression") == true)
        for size in [.max, 1] { #expect(try leniently(sample.coding, body, pieceSize: size) == PackedSample.text) }
      }
      #expect(throws: TaskError.self) {
        try leniently(sample.coding, sample.packed + Data(repeating: 1, count: 1 << 20 + 1))
      }
    }

    @Test(arguments: [(ContentCoding.gzip, PackedSample.gzip, 8), (.deflate, PackedSample.zlib, 4)])
    func `accepts a missing checksum only in lenient mode`(coding: ContentCoding, packed: Data, checksum: Int) throws {
      for missing in 1...checksum {
        let body = packed.dropLast(missing)
        let error = error([coding], body)
        #expect(error?.code == .truncatedBody && error?.reason.contains("lenientDecompression") == true, "\(missing)")
        for size in [.max, 1] { #expect(try leniently(coding, body, pieceSize: size) == PackedSample.text) }
      }
      for count in 0..<(packed.count - checksum) {
        let error = #expect(throws: TaskError.self) { try leniently(coding, packed.prefix(count)) }
        #expect(error?.code == .truncatedBody && error?.reason.contains("lenient") == false, "after \(count) bytes")
      }
      let damaged = packed.dropLast(checksum) + Data(count: checksum)
      #expect(throws: TaskError.self) { try leniently(coding, damaged) }
    }

    @Test func `rejects a truncated second member even in lenient mode`() {
      for count in [1, 12, PackedSample.gzip.count / 2] {
        let body = PackedSample.gzip + PackedSample.gzip.prefix(count)
        let error = #expect(throws: TaskError.self) { try leniently(.gzip, body) }
        #expect(error?.code == .truncatedBody && error?.reason.contains("lenient") == false, "after \(count) bytes")
      }
    }

    @Test func `the error names the actual coding if it is not the declared one`() {
      #expect(error([.deflate], PackedSample.gzip)?.reason == "Content-Encoding is deflate, but the body is gzip")
      for (coding, packed) in [(.gzip, PackedSample.zlib), (.gzip, PackedSample.text)] as [(ContentCoding, Data)] {
        let error = error([coding], packed)
        #expect(error?.code == .badResponse && error?.reason.contains("is not valid gzip") == true)
      }
      for sample in Sample.all where sample.coding == .brotli || sample.coding == .zstd {
        #expect(error([sample.coding], PackedSample.gzip)?.code == .badResponse)
      }
    }

    @Test func `reads the output before a failure, then only the failure`() throws {
      var unpacking = unpacking([.gzip])
      unpacking.feed(PackedSample.gzip.dropLast(8) + Data(count: 8))
      guard case .take(let chunk) = try unpacking.next() else { throw CocoaError(.coderReadCorrupt) }
      #expect(chunk == PackedSample.text)
      for _ in 0..<2 {
        let error = #expect(throws: TaskError.self) { try unpacking.next() }
        #expect(error?.code == .badResponse)
      }
    }

    // MARK: Limits

    @Test func `limits a chunk to 64 KiB`() throws {
      let limits = DecodingLimits(maximumSize: 1 << 30, maximumRatio: 2000)
      let sizes = try chunks(unpacking([.gzip], limits), of: PackedSample.zeros).map(\.count)
      #expect(sizes.max() == 64 << 10)
      #expect(sizes.reduce(0, +) == PackedSample.zerosCount)
    }

    @Test func `limits the ratio to 200 once a body exceeds 16 MB`() throws {
      #expect(try text([.gzip], PackedSample.zeros).count == PackedSample.zerosCount)
      var packed = Data()
      for _ in 0..<3 { packed += PackedSample.zeros }
      let error = error([.gzip], packed)
      #expect(error?.code == .bodyTooLarge)
      #expect(error?.reason.contains("maximumDecodingRatio") == true)
      var unpacking = unpacking([.gzip])
      unpacking.feed(packed)
      #expect(throws: TaskError.self) { try unpacking.whole(upTo: .max) }
      #expect(unpacking.decoded <= 16 << 20 + 64 << 10, "\(unpacking.decoded)")
      guard ContentCoding.brotli.isAvailable else { return }
      #expect(self.error([.brotli], PackedSample.brotliZeros)?.code == .bodyTooLarge)
    }

    @Test(.enabled(if: ContentCoding.zstd.isAvailable))
    func `the ratio includes the data between two codings`() throws {
      // A gzipped, skippable zstd frame, which the gzip stage expands and the zstd stage discards.
      let skipped = try #require(Data(base64Encoded: "H4sIAAAAAAACA4vS8pX4//9/PQCHMFwaCAAAAA=="))
      var unpacking = unpacking([.zstd, .gzip])
      unpacking.feed(skipped + PackedSample.zeros + PackedSample.zeros + PackedSample.zeros)
      let error = #expect(throws: TaskError.self) { try unpacking.next() }
      #expect(error?.code == .bodyTooLarge && unpacking.decoded == 0)
    }

    @Test func `the maximum size applies independently of the ratio`() {
      let limits = DecodingLimits(maximumSize: 1000, maximumRatio: 200)
      var unpacking = unpacking([.gzip], limits)
      unpacking.feed(PackedSample.gzip + PackedSample.gzip)
      let error = #expect(throws: TaskError.self) { try unpacking.whole(upTo: .max) }
      #expect(error?.code == .bodyTooLarge && error?.reason.contains("1000 bytes") == true)
    }

    @Test func `stops at the collector's limit`() throws {
      var unpacking = unpacking([.gzip])
      unpacking.feed(PackedSample.zeros)
      let error = #expect(throws: HTTPBodyLimitError.self) { try unpacking.whole(upTo: 100_000) }
      #expect(error?.limit == 100_000)
      #expect(unpacking.decoded == 100_001)
    }

    @Test(.enabled(if: ContentCoding.zstd.isAvailable))
    func `rejects a zstd frame with a window above 8 MB`() throws {
      // RFC 8878 §3.1.1: no checksum, a window of 2^(10 + exponent), one raw block of one byte.
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
