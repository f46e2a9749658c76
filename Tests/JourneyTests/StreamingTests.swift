import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct StreamingTests {
  @Test func `delivers a body in chunks as they arrive`() async throws {
    let shop = try Shop()
    let chunks = (0..<5).map { Data(repeating: UInt8($0), count: 1000) }
    shop.mock.enqueue(.chunked(chunks))
    let response = try await PlainTask().on(shop.server).stream()
    var all = Data()
    for try await chunk in response.body { all.append(chunk) }
    #expect(all == chunks.reduce(Data(), +))
    #expect(await eventually { shop.isQuiet })
  }

  @Test func `a stream releases its slot as soon as its head arrives`() async throws {
    let shop = try Shop()
    shop.mock.enqueue(.endless(chunk: Data(count: 16 << 10)))
    let response = try await PlainTask().on(shop.server).stream()
    let iterator = response.body.makeAsyncIterator()
    for _ in 0..<3 { #expect(try await iterator.next()?.isEmpty == false) }
    #expect(shop.server.manager.runningCount == 0 && shop.server.manager.throttle.streams == 1)
    response.body.cancel()
    try await shop.mock.waitForOpenConnections(0)
    #expect(await eventually { shop.isQuiet && shop.server.manager.throttle.streams == 0 })
  }

  @Test func `a reader that stops reading applies backpressure within the documented limit`() async throws {
    let shop = try Shop()
    shop.mock.enqueue(.endless(chunk: Data(count: 64 << 10)))
    let response = try await PlainTask().on(shop.server).stream()
    let iterator = response.body.makeAsyncIterator()
    let first = try #require(try await iterator.next()).count
    // Wait until nothing is sent for a while. Without backpressure, the server would send a gigabyte in that time.
    var (sent, since) = (shop.mock.bytesSent, ContinuousClock.now)
    let hasStopped = await eventually {
      let now = shop.mock.bytesSent
      if now != sent { (sent, since) = (now, .now) }
      return ContinuousClock.now - since > .milliseconds(500)
    }
    #expect(hasStopped, "the server keeps sending")
    #if os(Linux)
      // Subtract the kernel's buffers and the chunk that was already read. The library holds the rest.
      let queued = try SocketQueues(port: #require(shop.mock.url.port))
      let ahead = sent - queued.unsent - queued.unread - first
      #expect(ahead <= 768 << 10, "\(ahead) bytes were read ahead of the reader")
      #expect(ahead > 0, "\(sent) sent, \(queued)")
    #endif
    for _ in 0..<64 { _ = try await iterator.next() }
    response.body.cancel()
    try await shop.mock.waitForOpenConnections(0)
  }

  @Test func `leaving the loop ends the transfer and releases the slot and connection`() async throws {
    let shop = try Shop(limits: ThrottleLimits(perHost: 1))
    shop.mock.enqueue(.endless(chunk: Data(count: 1000)))
    do {
      let response = try await PlainTask().on(shop.server).stream()
      for try await _ in response.body { break }
    }
    try await shop.mock.waitForOpenConnections(0)
    #expect(try await GetWidget().on(shop.server).download() == Widget(), "the only slot is free")
  }

  @Test func `releasing an unread stream closes its connection`() async throws {
    let shop = try Shop(limits: ThrottleLimits(perHost: 1))
    shop.mock.enqueue(.endless(chunk: Data(count: 1000)))
    do { _ = try await PlainTask().on(shop.server).stream() }
    try await shop.mock.waitForOpenConnections(0)
    #expect(await eventually { shop.isQuiet })
  }

  @Test func `a truncated stream throws .truncatedBody`() async throws {
    let shop = try Shop()
    shop.mock.enqueue(.truncated(body: Data(count: 1000), after: 400))
    let response = try await PlainTask().on(shop.server).stream()
    let error = await #expect(throws: TaskError.self) { try await response.body.collect() }
    #expect(error?.code == .truncatedBody)
    #expect(await eventually { shop.isQuiet })
  }

  @Test func `cancelling the reader throws CancellationError and closes the connection`() async throws {
    let shop = try Shop()
    shop.mock.enqueue(.text("0123456789").bodyAfter(.seconds(3600)))
    let response = try await PlainTask().on(shop.server).stream()
    let reader = Task { try await response.body.collect() }
    await giveWay()
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    try await shop.mock.waitForOpenConnections(0)
    #expect(await eventually { shop.isQuiet })
  }

  @Test func `cancelAll ends an open stream`() async throws {
    let shop = try Shop()
    shop.mock.enqueue(.text("0123456789").bodyAfter(.seconds(3600)))
    let response = try await PlainTask().on(shop.server).stream()
    #expect(await shop.server.manager.cancelAll() == 1)
    await #expect(throws: CancellationError.self) { try await response.body.next() }
    try await shop.mock.waitForOpenConnections(0)
  }
}
