import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct ProgressJourneyTests {
  private struct Send: ServerPOSTTask, DataUploadingTask {
    let uploadData: Data
    let path = "echo/x"
  }

  private func reported(_ all: Shared<[TransferProgress]>, _ direction: TransferProgress.Direction)
    -> [TransferProgress]
  {
    all.withLock { $0.filter { $0.direction == direction } }
  }

  @Test func `reports upload and download progress in order until the transfer ends`() async throws {
    let shop = try Shop()
    let all = Shared<[TransferProgress]>([])
    let data = Data(repeating: 7, count: 1 << 20)
    let back = try await Send(uploadData: data).progress { progress in all.withLock { $0.append(progress) } }
      .on(shop.server).downloadData()
    #expect(back == data)
    for direction in [TransferProgress.Direction.up, .down] {
      let reported = reported(all, direction)
      #expect(
        reported.last?.isFinished == true && reported.last?.completed == 1 << 20 && reported.last?.total == 1 << 20)
      #expect(
        reported.map(\.completed) == reported.map(\.completed).sorted() && reported.filter(\.isFinished).count == 1)
    }
    let directions = all.withLock { $0.map(\.direction) }
    #expect(directions.lastIndex(of: .up) ?? 0 < directions.firstIndex(of: .down) ?? 0)
    #expect(await eventually { shop.isQuiet })
  }

  @Test func `reports a download's progress from the beginning after a retry`() async throws {
    try await withFolder { folder in
      let shop = try Shop { $0.retryPolicy = .fixed(retries: 1, delay: .zero) }
      let body = Data(repeating: 1, count: 200_000)
      shop.mock.enqueue(.truncated(body: body, after: 50_000))
      shop.mock.enqueue(.data(body))
      let all = Shared<[TransferProgress]>([])
      let file = folder.appendingPathComponent("file")
      try await PlainTask().on(shop.server).download(to: file) { progress in all.withLock { $0.append(progress) } }
      #expect(try Data(contentsOf: file) == body)
      let reported = reported(all, .down)
      #expect(reported.last?.attempt == 2 && reported.last?.fraction == 1)
      #expect(reported.filter { $0.attempt == 1 }.allSatisfy { !$0.isFinished && $0.completed <= 50_000 })
      #expect(self.reported(all, .up).isEmpty)
    }
  }

  @Test(arguments: ["aws-chunked", "identity"]) func `the total for a body with an unknown encoding is its length`(
    coding: String
  ) async throws {
    let shop = try Shop()
    shop.mock.enqueue(.data(Data(count: 1000)).header(.contentEncoding, coding))
    let all = Shared<[TransferProgress]>([])
    _ = try await PlainTask().progress { progress in all.withLock { $0.append(progress) } }.on(shop.server)
      .downloadData()
    #expect(reported(all, .down).last?.total == 1000)
  }

  @Test(arguments: ["503", "307"]) func `reports upload progress again when a retry or redirect resends the body`(
    status: String
  )
    async throws
  {
    let shop = try Shop { $0.retryPolicy = .fixed(retries: 1, delay: .zero) }
    let bytes = Data((0..<200 << 10).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) })
    shop.mock.enqueue(
      status == "503" ? .status(503) : .status(307, headers: [.location: shop.url("echo/y").absoluteString]))
    let all = Shared<[TransferProgress]>([])
    let put = URLTask(shop.url("echo/x"), method: .put, body: .bytes(bytes)).progress { progress in
      all.withLock { $0.append(progress) }
    }
    #expect(try await put.on(shop.server).downloadData() == bytes)
    #expect(shop.mock.requests.map(\.body) == [bytes, bytes])
    #expect(await eventually { reported(all, .up).filter(\.isFinished).count == 2 })
  }

  @Test func `reports the upload progress of a stream of unknown length`() async throws {
    let shop = try Shop()
    let all = Shared<[TransferProgress]>([])
    struct Stream: ServerPOSTTask, UploadingTask {
      let path = "echo/x"
      func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
        .stream {
          AsyncStream { chunks in
            for _ in 0..<5 { chunks.yield(Data(count: 1000)) }
            chunks.finish()
          }
        }
      }
    }
    try await Stream().progress { progress in all.withLock { $0.append(progress) } }.on(shop.server).upload()
    let last = reported(all, .up).last
    #expect(last?.completed == 5000 && last?.total == nil && last?.isFinished == true)
  }
}
