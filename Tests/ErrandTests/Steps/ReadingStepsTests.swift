import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Steps that read response bodies before the call does.
@Suite(.timeLimit(.minutes(1))) struct ReadingStepsTests {
  enum Reading: CaseIterable, Sendable {
    case collect, next, loop

    func read(_ body: HTTPResponseBody) async throws {
      switch self {
      case .collect: _ = try await body.collect()
      case .next: _ = try await body.next()
      case .loop: for try await _ in body { break }
      }
    }
  }

  private struct Reader: PerCallStep, PerAttemptStep {
    let reading: Reading

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      try await reading.read(response.body)
      return response
    }
  }

  private struct Upper: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var response = try await next(request)
      let text = String(decoding: try await response.body.collect(), as: UTF8.self)
      response.body = HTTPResponseBody(Data(text.uppercased().utf8))
      return response
    }
  }

  private static let content = String(repeating: "a", count: 200_000)

  private func server(
    cache: (any CacheStore)? = nil, calls: [any PerCallStep] = [], attempts: [any PerAttemptStep] = []
  ) -> Server {
    var configuration = ServerConfiguration()
    configuration.log = .discard
    (configuration.cache, configuration.perCallSteps, configuration.perAttemptSteps) = (cache, calls, attempts)
    return Server(
      "https://shop.test", configuration: configuration,
      transport: StubTransport { request in
        let pieces = [Data(Self.content.utf8.prefix(70_000)), Data(Self.content.utf8.dropFirst(70_000))]
        let body = HTTPResponseBody(ChunkSource(pieces))
        return HTTPResponse(url: request.url, headers: [.cacheControl: "max-age=60"], body: body)
      }, asDefault: false, environment: [:])
  }

  @Test(arguments: Reading.allCases) func `a download contains all bytes regardless of what a step has read`(
    reading: Reading
  ) async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      let server = server(attempts: [Upper(), Reader(reading: reading)])
      _ = try await PlainTask().on(server).download(to: file)
      #expect(try String(contentsOf: file, encoding: .utf8) == Self.content.uppercased())
    }
  }

  @Test(arguments: Reading.allCases, [false, true])
  func `a cached download contains all bytes regardless of what a step has read`(
    reading: Reading, inMemory: Bool
  ) async throws {
    try await withFolder { folder in
      let cache: any CacheStore = inMemory ? MemoryCache() : try DiskCache(at: folder.appendingPathComponent("cache"))
      let (first, file) = (server(cache: cache), folder.appendingPathComponent("file"))
      _ = try await PlainTask().on(first).data()
      let server = server(cache: cache, calls: [Reader(reading: reading)])
      let response = try await PlainTask().on(server).download(to: file).response
      #expect(response.cacheStatus?.isHit == true)
      #expect(try String(contentsOf: file, encoding: .utf8) == Self.content)
    }
  }

  @Test(arguments: Reading.allCases) func `stream() throws .bodyConsumed if a step has read from the body`(
    reading: Reading
  ) async throws {
    let server = server(calls: [Reader(reading: reading)])
    let error = await taskError { _ = try await PlainTask().on(server).stream() }
    #expect(error?.code == .bodyConsumed)
    #expect(await eventually { server.manager.callCount == 0 && server.manager.throttle.streams == 0 })
  }

  @Test(arguments: Reading.allCases)
  func `a call throws .bodyConsumed if a step has read from the stream that it returns`(
    reading: Reading
  ) async throws {
    struct Answering: PerCallStep {
      let reading: Reading

      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let response = HTTPResponse(
          url: request.url, body: HTTPResponseBody(ChunkSource([Data("a".utf8), Data("b".utf8)])))
        try await reading.read(response.body)
        return response
      }
    }
    try await withFolder { folder in
      let task = PlainTask().on(server(calls: [Answering(reading: reading)]))
      #expect(await taskError { _ = try await task.data() }?.code == .bodyConsumed)
      #expect(await taskError { try await task.run() }?.code == .bodyConsumed)
      let file = folder.appendingPathComponent("file")
      #expect(await taskError { _ = try await task.download(to: file) }?.code == .bodyConsumed)
    }
  }

  private struct Peeking: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      await #expect(throws: HTTPBodyLimitError.self) { try await response.body.collect(upTo: 100) }
      return response
    }
  }

  @Test func `a body stays complete after a step's collect(upTo:) exceeds the limit`() async throws {
    let task = PlainTask().on(server(attempts: [Peeking()]))
    #expect(try await task.data().count == 200_000)
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      try await task.download(to: file)
      #expect(try Data(contentsOf: file).count == 200_000)
    }
  }
}
