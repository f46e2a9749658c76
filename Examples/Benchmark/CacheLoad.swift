import Errand
import ErrandTesting
import ErrandFoundation

/// A server with a disk cache and without a network. Every response is unique.
struct CacheLoad: Sendable {
  static let keys = 40

  struct GetPage: ServerGETTask, PayloadDownloadingTask {
    typealias DownloadPayload = Data
    let server: Server
    let path: String
  }

  let server: Server

  init(_ folder: URL, seed: Int) throws {
    let number = Shared(seed << 20)
    let transport = StubTransport { request in
      let number = number.withLock { number in
        number += 1
        return number
      }
      return HTTPResponse(
        url: request.url, headers: [.cacheControl: "max-age=3600", "X-Number": "\(number)"],
        body: HTTPResponseBody(Self.body(number)))
    }
    var configuration = ServerConfiguration()
    configuration.cache = try DiskCache(at: folder, sizeLimit: 16 << 20)
    server = Server(
      "https://bench.test", configuration: configuration, transport: transport,
      manager: TaskManager(limits: .unlimited), environment: [:])
  }

  /// Returns the body of a response: its number, repeated up to a length that depends on the number.
  static func body(_ number: Int) -> Data {
    let count = number &* 2_654_435_761 % 25_000
    var data = Data(capacity: count * 8)
    for index in 0..<count { withUnsafeBytes(of: number &+ index) { data.append(contentsOf: $0) } }
    return data
  }

  /// Stores a response.
  func store(_ key: Int) async throws {
    try await GetPage(server: server, path: "\(key)").caching(.reload).run()
  }

  /// Reads the stored response. Returns `false` if the cache does not contain it, and throws if it is corrupt.
  func check(_ key: Int) async throws -> Bool {
    let response: TaskResponse<Data>
    do {
      response = try await GetPage(server: server, path: "\(key)").caching(.cacheOnly).response()
    } catch let error as TaskError where error.code == .notCached {
      return false
    }
    guard let number = response.headers["X-Number"].flatMap({ Int($0) }), response.payload == Self.body(number) else {
      throw BenchError("page \(key) has the wrong content: \(response.headers)")
    }
    return true
  }
}

/// Stores and reads responses in the `--file` folder endlessly. Intended to be killed while it writes.
struct CacheWriteScenario: Scenario {
  let isEmbedded = true
  let defaultConcurrency = 4

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    guard let folder = options.file else { throw BenchError("cache-write needs --file") }
    let load = try CacheLoad(folder, seed: options.seed)
    let parent = getppid()
    return try await BenchResult.measure("cache-write", options) {
      guard getppid() == parent else { throw BenchError("the parent process has exited") }
      try await load.store(.random(in: 0..<CacheLoad.keys))
      _ = try await load.check(.random(in: 0..<CacheLoad.keys))
      return 1
    }
  }
}
