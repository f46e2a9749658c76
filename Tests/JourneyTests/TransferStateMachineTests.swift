import Errand
import ErrandTesting
import ErrandTransfers
import Foundation
import Testing

/// Transfers that are paused, resumed, cancelled or observed, and their digests, deadlines and concurrent runs.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct TransferLifeTests {
  private static let digest = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="  // SHA-256 of an empty file

  /// Returns a shop whose first response stalls after 60,000 bytes.
  private func stalled(_ retry: RetryPolicy = .patient) throws -> RangeShop {
    let shop = try RangeShop(retry: retry)
    let data = shop.file.withLock { $0.data }
    shop.mock.enqueue(
      .data(data).header(.eTag, #""one""#).throttled(bytes: 60_000, every: .seconds(3600)))
    return shop
  }

  private func size(_ folder: URL) -> Int {
    let part = folder.appendingPathComponent(".file.errand-part").path
    return (try? FileManager.default.attributesOfItem(atPath: part)[.size] as? Int) ?? 0
  }

  private func check(_ place: URL, _ shop: RangeShop) throws {
    #expect(try Data(contentsOf: place) == shop.file.withLock { $0.data })
    #expect(shop.ranges == ["", "bytes=60000-"])
  }

  @Test func `a paused download closes its connection and later resumes at the same position`() async throws {
    let shop = try stalled()
    try await withFolder { folder in
      let place = folder.appendingPathComponent("file")
      let download = shop.download(to: place)
      let run = Task { try await download.run() }
      #expect(await eventually { size(folder) == 60_000 })
      #expect(download.pause() && !download.pause())
      guard case .paused = download.state else {
        Issue.record("\(download.state)")
        return
      }
      try await shop.mock.waitForOpenConnections(0)
      #expect(download.resume() && !download.resume())
      #expect(try await run.value.payload == place)
      try check(place, shop)
    }
  }

  @Test func `a download that is paused before it runs starts when it is resumed`() async throws {
    let shop = try RangeShop()
    try await withFolder { folder in
      let download = shop.download(to: folder.appendingPathComponent("file"))
      download.pause()
      let run = Task { try await download.run() }
      await giveWay(50)
      #expect(shop.mock.requestCount == 0)
      download.resume()
      _ = try await run.value
    }
  }

  @Test(arguments: [true, false]) func `a cancelled download keeps its partial file, whether or not it is paused`(
    isPaused: Bool
  )
    async throws
  {
    let shop = try stalled()
    try await withFolder { folder in
      let place = folder.appendingPathComponent("file")
      let download = shop.download(to: place)
      let run = Task { try await download.run() }
      #expect(await eventually { size(folder) == 60_000 })
      if isPaused { download.pause() }
      download.cancel()
      await #expect(throws: CancellationError.self) { try await run.value }
      guard case .cancelled = download.state else {
        Issue.record("\(download.state)")
        return
      }
      try await download.run()
      try check(place, shop)
    }
  }

  @Test func `cancelling the surrounding Swift task or all calls ends a download`() async throws {
    for cancelsAll in [true, false] {
      let shop = try stalled()
      try await withFolder { folder in
        let download = shop.download(to: folder.appendingPathComponent("file"))
        let run = Task { try await download.run() }
        #expect(await eventually { size(folder) == 60_000 })
        if cancelsAll { await shop.server.manager.cancelAll() } else { run.cancel() }
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(await eventually { shop.server.manager.callCount == 0 })
      }
    }
  }

  @Test func `a download can't run twice at the same time`() async throws {
    let shop = try stalled()
    try await withFolder { folder in
      let place = folder.appendingPathComponent("file")
      let download = shop.download(to: place)
      let run = Task { try await download.run() }
      #expect(await eventually { size(folder) == 60_000 })
      for other in [download, shop.download(to: place)] {
        let error = await #expect(throws: TaskError.self) { try await other.run() }
        #expect(error?.code == .transferInUse)
        let refusal = #expect(throws: TaskError.self) { try other.discard() }
        #expect(refusal?.code == .transferInUse)
      }
      run.cancel()
      _ = await run.result
      try download.discard()
      #expect(try files(in: folder) == [])
    }
  }

  @Test func `the states report progress across all attempts and end with the transfer`() async throws {
    let shop = try RangeShop()
    shop.file.withLock { $0.cuts = [30_000, 30_000] }
    try await withFolder { folder in
      let download = shop.download(to: folder.appendingPathComponent("file"))
      let states = download.states
      let watcher = Task {
        var seen: [TransferState] = []
        for await state in states { seen.append(state) }
        return seen
      }
      try await download.run()
      let seen = await watcher.value
      guard case .finished = try #require(seen.last), case .finished = download.state else {
        Issue.record("\(seen)")
        return
      }
      let bytes = seen.compactMap(\.progress?.completed)
      #expect(bytes == bytes.sorted() && bytes.last == 100_000)
      var after = download.states.makeAsyncIterator()
      guard case .finished = await after.next(), await after.next() == nil else {
        Issue.record("the states of a finished transfer should be only .finished")
        return
      }
    }
  }

  @Test func `a stalled body times out, and the next attempt resumes the download`() async throws {
    let shop = try stalled()
    try await withFolder { folder in
      let place = folder.appendingPathComponent("file")
      let task = RangeShop.GetFile(server: shop.server).timeouts(Timeouts(idle: .milliseconds(300)))
      try await ResumableDownload(task, to: place).run()
      try check(place, shop)
    }
  }

  @Test func `the deadline covers the entire run`() async throws {
    let shop = try stalled(.fixed(retries: 100, delay: .zero))
    try await withFolder { folder in
      let task = RangeShop.GetFile(server: shop.server).timeouts(Timeouts(call: .milliseconds(500)))
      let error = await #expect(throws: TaskError.self) {
        try await ResumableDownload(task, to: folder.appendingPathComponent("file")).run()
      }
      #expect(error?.timer == .call, "\(String(describing: error))")
      #expect(size(folder) == 60_000)
    }
  }

  @Test func `time spent paused counts toward the deadline`() async throws {
    let shop = try stalled()
    try await withFolder { folder in
      let task = RangeShop.GetFile(server: shop.server).timeouts(Timeouts(call: .seconds(1)))
      let download = ResumableDownload(task, to: folder.appendingPathComponent("file"))
      let run = Task { try await download.run() }
      #expect(await eventually { size(folder) == 60_000 })
      download.pause()
      let error = await #expect(throws: TaskError.self) { try await run.value }
      #expect(error?.timer == .call && error?.code == .timedOut, "\(String(describing: error))")
    }
  }

  @Test func `checks the file against the given digest and the server's digest`() async throws {
    for isKnown in [true, false] {
      let shop = try RangeShop(Data("hello".utf8))
      if !isKnown { shop.file.withLock { $0.extra[.reprDigest] = "sha-256=:\(Self.digest):" } }
      try await withFolder { folder in
        let place = folder.appendingPathComponent("file")
        let wrong = try TransferDigest.sha256(String(repeating: "0", count: 64))
        let download = shop.download(to: place, digest: isKnown ? wrong : nil)
        let error = await #expect(throws: TaskError.self) { try await download.run() }
        #expect(error?.code == .digestMismatch && error?.url == "\(shop.mock.url)/file", "\(String(describing: error))")
        #expect(error?.description.contains("\(shop.mock.url)/file: SHA-256 mismatch") == true)
        #expect(try files(in: folder) == [], "the rejected file is discarded")
        let right = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
        shop.file.withLock { $0.extra = [:] }
        try await shop.download(to: place, digest: .sha256(right)).run()
        #expect(try files(in: folder) == ["file"])
      }
    }
  }

  @Test func `the state is verifying while the digest is computed`() async throws {
    let shop = try RangeShop(RangeShop.bytes(32 << 20))
    shop.file.withLock { $0.extra[.reprDigest] = "sha-256=:\(Self.digest):" }
    try await withFolder { folder in
      let download = shop.download(to: folder.appendingPathComponent("file"))
      let states = download.states
      let watcher = Task {
        for await case .verifying in states { return true }
        return false
      }
      let error = await #expect(throws: TaskError.self) { try await download.run() }
      #expect(error?.code == .digestMismatch)
      #expect(await watcher.value)
    }
  }

  @Test(arguments: [true, false]) func `cancelAll ends a transfer that is waiting for its next attempt`(
    isPaused: Bool
  ) async throws {
    let clock = ManualClock()
    let mock = try MockServer()
    mock.route("/*") { _ in .status(.serviceUnavailable) }
    var configuration = ServerConfiguration()
    configuration.log = .discard
    configuration.retryPolicy = .fixed(retries: 5, delay: .seconds(3600))
    let server = Server(
      Remote(mock.url), configuration: configuration, manager: TaskManager(clock: CallClock(clock)))
    try await withFolder { folder in
      let task = RangeShop.GetFile(server: server)
      let download = ResumableDownload(task, to: folder.appendingPathComponent("file"))
      let run = Task { try await download.run() }
      #expect(
        await eventually {
          if case .delayed = download.state { clock.sleeperCount > 0 } else { false }
        })
      if isPaused { download.pause() }
      #expect(await server.manager.cancel(tag: "another") == 0)
      #expect(await server.manager.cancelAll() == 1)
      await #expect(throws: CancellationError.self) { try await run.value }
      #expect(await server.manager.cancelAll() == 0, "the transfer has already ended")
      #expect(mock.requestCount == 1)
    }
  }

  @Test func `a transfer can be cancelled at any stage`() async throws {
    let clock = ManualClock()
    let shop = try RangeShop(
      retry: .fixed(retries: 5, delay: .seconds(3600)), budget: .standard, clock: CallClock(clock))
    let starts = [10_000, 32_500, 55_000, 77_500]
    shop.file.withLock { file in
      for start in starts { file.firstAt[start] = [.status(502)] }
    }
    try await withFolder { folder in
      let ranged = shop.download(to: folder.appendingPathComponent("file"), ranges: 4)
      let waiting = Task { try await ranged.run() }
      let isDelayed = await eventually {
        if case .delayed = ranged.state { true } else { false }
      }
      #expect(isDelayed, "all ranges wait for their next attempt: \(ranged.state)")
      #expect(await shop.server.manager.cancelAll() == 1)
      await #expect(throws: CancellationError.self) { try await waiting.value }
    }
    let upload = try UploadShop()
    upload.upload.withLock { $0.script = [.hang] }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file.txt")
      try Data("hello".utf8).write(to: file)
      let sending = ResumableUpload(of: file, with: UploadShop.AddFile(server: upload.server), by: .tus)
      let run = Task { try await sending.run() }
      #expect(await eventually { upload.mock.requestCount == 2 })
      #expect(await upload.server.manager.cancel(type: RangeShop.GetFile.self) == 0)
      #expect(
        await upload.server.manager.cancel(type: UploadShop.AddFile.self) == 1, "a transfer has the type of its task")
      await #expect(throws: CancellationError.self) { try await run.value }
    }
    let stalled = try stalled()
    try await withFolder { folder in
      let download = stalled.download(to: folder.appendingPathComponent("file"))
      let run = Task { try await download.run() }
      #expect(await eventually { size(folder) == 60_000 })
      #expect(await stalled.server.manager.cancelAll() == 1, "a transfer and its call are counted once")
      await #expect(throws: CancellationError.self) { try await run.value }
    }
  }
}
