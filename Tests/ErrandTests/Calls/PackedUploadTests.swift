import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct PackedUploadTests {
  private struct Send: ServerPOSTTask, DataUploadingTask {
    var uploadData = Data(repeating: 65, count: 1000)
    var headers: HTTPHeaders = [:]
  }

  private struct SendCompressed: ServerPOSTTask, DataUploadingTask, GZipUploadingTask {
    let uploadData = Data(repeating: 65, count: 1000)
  }
  private struct SendFrom: ServerPOSTTask, DataUploadingTask {
    let gzipUploadThreshold: Int?
    let uploadData = Data(repeating: 65, count: 1000)
  }
  private struct PostPacked: ServerPOSTTask, GZipUploadingTask {}

  private func sent(_ task: some ServerTask, threshold: Int? = nil) async throws -> HTTPRequest {
    let stub = StubServer(.status(.ok)) { $0.gzipUploadThreshold = threshold }
    try await task.on(stub.server).run()
    return try #require(stub.requests.first)
  }

  #if os(Linux)
    @Test func `compresses a body that is at least as long as the server's threshold`() async throws {
      let compressed = try await sent(Send(), threshold: 1000)
      #expect(compressed.headers.values(for: .contentEncoding) == ["gzip"])
      #expect(compressed.body.data?.prefix(2) == Data([0x1F, 0x8B]) && (compressed.body.data?.count ?? 1000) < 100)
      let plain = try await sent(Send(), threshold: 1001)
      #expect(!plain.headers.contains(.contentEncoding) && plain.body.data?.count == 1000)
    }

    private struct SendStream: ServerPOSTTask {
      func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
        .stream { AsyncStream { $0.finish() } }
      }
    }

    @Test func `compresses a body of unknown length unless the threshold is the maximum`() async throws {
      #expect(try await sent(SendStream().gzipped(above: 1000)).headers[.contentEncoding] == "gzip")
      #expect(try await sent(SendStream().gzipped(above: .max), threshold: 0).headers[.contentEncoding] == nil)
    }

    @Test func `the call's compression setting overrides the task's, which overrides the server's`() async throws {
      func isCompressed(_ task: some ServerTask, threshold: Int? = nil) async throws -> Bool {
        try await sent(task, threshold: threshold).headers[.contentEncoding] == "gzip"
      }
      #expect(try await isCompressed(Send().gzipped()))
      #expect(try await !isCompressed(Send().gzipped(above: .max), threshold: 0))
      #expect(try await isCompressed(SendCompressed()))
      #expect(try await isCompressed(SendCompressed(), threshold: .max))
      #expect(try await !isCompressed(SendCompressed().gzipped(above: 1001), threshold: 0))
      #expect(try await isCompressed(SendFrom(gzipUploadThreshold: 1000)))
      #expect(try await !isCompressed(SendFrom(gzipUploadThreshold: 1001), threshold: 0))
      #expect(try await isCompressed(SendFrom(gzipUploadThreshold: .max).gzipped()))
      #expect(try await isCompressed(SendFrom(gzipUploadThreshold: nil), threshold: 0))
      #expect(try await !isCompressed(SendFrom(gzipUploadThreshold: nil)))
    }
  #endif

  @Test func `does not compress by default, and never compresses an empty or encoded body`() async throws {
    #expect(try await sent(Send()).headers[.contentEncoding] == nil)
    let coded = try await sent(Send(headers: [.contentEncoding: "br"]), threshold: 0)
    #expect(coded.headers.values(for: .contentEncoding) == ["br"] && coded.body.data?.count == 1000)
    #expect(try await sent(PlainTask(), threshold: 0).headers[.contentEncoding] == nil)
    #expect(try await sent(PostPacked()).headers[.contentEncoding] == nil)
  }
}
