import Errand
import ErrandTesting
import ErrandTransfers
import Foundation
import Testing

/// Bodies that wait for a transfer started by other code.
@Suite(.timeLimit(.minutes(2))) struct TransferWaitTests {
  @Test func `a body can wait for a transfer started elsewhere`() async throws {
    try await withFolder { folder in
      let shop = VirtualShop(limits: ThrottleLimits(perHost: 1)) { _, request, _ in
        try await request.body.forEachChunk { _ in }
        return .json("1", for: request)
      }
      let place = folder.appendingPathComponent("file")
      let download = ResumableDownload(ShopTask(path: "file", httpMethod: .get).on(shop.server), to: place)
      let (isSending, isStarted, isWatching) = (Gate(), Gate(), Gate())
      let body = MadeBody(server: shop.server) {
        isSending.open()
        await isStarted.wait()
        for await _ in download.states { isWatching.open() }
        return Data()
      }
      let upload = Task { try await body.run() }
      await isSending.wait()
      let run = Task { try await download.run() }
      isStarted.open()
      await isWatching.wait()
      let isDone = await eventually { download.state.isOver }
      #expect(isDone)
      if !isDone { download.cancel() }
      _ = try await (upload.value, run.value)
    }
  }
}
