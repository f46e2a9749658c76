#if os(Linux)
  import Foundation
  import Testing

  @testable import Errand

  @Suite(.timeLimit(.minutes(1))) struct ContentCodingTests {
    private func list(_ values: String...) throws -> [ContentCoding]? {
      try ContentCoding.list(HTTPHeaders(values.map { .init(.contentEncoding, $0) }))
    }

    @Test func `parses codings from several lines, regardless of case`() throws {
      #expect(try list("gzip") == [.gzip])
      #expect(try list("X-GZip") == [.gzip])
      #expect(try list("deflate , GZIP") == [.deflate, .gzip])
      #expect(try list("deflate", "gzip") == [.deflate, .gzip])
    }

    @Test func `ignores identity and empty members`() throws {
      #expect(try list() == [])
      #expect(try list("") == [])
      #expect(try list("identity") == [])
      #expect(try list(",gzip,, identity") == [.gzip])
    }

    @Test func `an unknown coding disables decompression`() throws {
      #expect(try list("aes128gcm") == nil)
      #expect(try list("compress, gzip") == nil)
      #expect(try list("utf-8") == nil)
    }

    @Test func `rejects more than four codings`() throws {
      #expect(try list("gzip, gzip, gzip, gzip")?.count == 4)
      let error = #expect(throws: TaskError.self) { try list("gzip, gzip, gzip, gzip, x") }
      #expect(error?.code == .badResponse)
    }

    @Test(arguments: [
      ("gzip", true), ("deflate, br", true), ("X-GZip", true), ("identity, zstd", true), ("identity", false),
      ("", false),
      ("aws-chunked", false), ("UTF-8", false), ("none", false), ("gzip, aws-chunked", false), ("a, b, c, d, e", true),
    ]) func `a body counts as compressed if its codings are all known or too many`(value: String, isCompressed: Bool) {
      #expect(HTTPHeaders([.init(.contentEncoding, value)]).isCompressed == isCompressed)
      #expect(!HTTPHeaders().isCompressed)
    }

    @Test func `offers only available codings`() {
      let offered = ContentCoding.offer.split(separator: ", ").map(String.init)
      for coding in ContentCoding.allCases {
        #expect(offered.contains(coding.rawValue) == coding.isAvailable, "\(coding)")
      }
    }
  }
#endif
