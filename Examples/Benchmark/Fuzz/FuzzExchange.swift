import Errand
import ErrandFoundation

/// An exchange with the peer, determined entirely by the seed and the exchange's number.
struct FuzzExchange: Sendable {
  enum Use: String, CaseIterable, Sendable {
    case data, stream, file
  }

  let number: Int
  let line: FuzzPeer.Line
  /// Whether the peer mutates the response.
  let isWild: Bool
  let method: HTTPMethod
  let use: Use
  /// Whether the exchange uses a server and its manager instead of using the transport directly.
  let isCall: Bool
  let decodes: Bool
  private let bodySize: Int
  private let streamsUp: Bool
  private let isSlow: Bool

  init(_ number: Int, seed: Int, line: FuzzPeer.Line, isFirst: Bool) {
    var dice = Dice(seed: UInt64(truncatingIfNeeded: seed &* 1_000_003 &+ number))
    self.number = number
    self.line = line
    isWild = dice.roll(3) > 0 && !isFirst
    method = ([.get, .get, .get, .get, .head, .post, .post, .put] as [HTTPMethod])[dice.roll(8)]
    use = Use.allCases[dice.roll(3)]
    isCall = dice.roll(2) == 0
    decodes = isCall || dice.roll(8) > 0
    bodySize = [10, 3000, 3000, 60_000, 1_000_000][dice.roll(5)]
    streamsUp = dice.roll(3) == 0
    isSlow = dice.roll(4) == 0
  }

  var path: String { "\(isWild ? "wild" : "clean")/\(number)" }

  var description: String {
    "\(number), \(method.rawValue) over \(line.rawValue), \(use.rawValue) of \(isCall ? "a call" : "the transport")"
  }

  /// The timeouts of an attempt. The peer's stalls are longer. Valid responses have no time limit.
  var timeouts: Timeouts {
    guard isWild else { return Timeouts(connect: .seconds(30), attempt: .seconds(30)) }
    return Timeouts(
      connect: .seconds(2), firstByte: .milliseconds(400), idle: .milliseconds(400), attempt: .milliseconds(1500))
  }

  /// The maximum total duration, including retries.
  var limit: Duration { isWild ? .seconds(isCall ? 4 : 2) : .seconds(isCall ? 61 : 31) }

  private var body: HTTPBody {
    guard method == .post || method == .put else { return .empty }
    let size = bodySize
    guard streamsUp else { return .bytes(Data(repeating: 7, count: size)) }
    return .stream(length: number.isMultiple(of: 2) ? Int64(size) : nil) {
      AsyncStream { continuation in
        for start in stride(from: 0, to: size, by: 16_384) {
          continuation.yield(Data(repeating: 7, count: min(16_384, size - start)))
        }
        continuation.finish()
      }
    }
  }

  /// Runs the exchange.
  func run(at url: URL, over transport: any Transport, _ server: Server, in folder: URL) async throws -> FuzzAnswer {
    guard isCall else { return try await send(to: url, over: transport) }
    let task = URLTask(url, method: method, body: body).on(server).timeouts(timeouts).deadline(limit)
      .retry(.fixed(retries: 1, delay: .milliseconds(1)))
    if method == .head { return FuzzAnswer(try await task.head(), Data()) }
    switch use {
    case .data:
      let response = try await task.response()
      return FuzzAnswer(response.response, response.payload)
    case .stream:
      let response = try await task.stream()
      return FuzzAnswer(response, try await read(response.body))
    case .file: return try await download(task, to: folder.appendingPathComponent("\(number)"))
    }
  }

  private func send(to url: URL, over transport: any Transport) async throws -> FuzzAnswer {
    var options = TransferOptions()
    options.timeouts = timeouts
    options.decodesBody = decodes
    options.mayRepeat = method != .post && !streamsUp
    let response = try await transport.send(HTTPRequest(method, url, body: body, options: options))
    return FuzzAnswer(response, try await read(response.body))
  }

  private func read(_ body: HTTPResponseBody) async throws -> Data {
    guard use == .stream else { return try await body.collect() }
    var data = Data()
    while let chunk = try await body.next() {
      data.append(chunk)
      if isSlow { try await Task.sleep(for: .milliseconds(1)) }
    }
    return data
  }

  /// Downloads over an existing file, which must not change unless the download succeeds.
  private func download(_ task: some ServerTask, to file: URL) async throws -> FuzzAnswer {
    let former = Data("what was there".utf8)
    try former.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }  // the folder is temporary
    do {
      let response = try await task.download(to: file)
      return FuzzAnswer(response.response, try Data(contentsOf: file))
    } catch {
      guard try Data(contentsOf: file) == former else { throw FuzzDamage(error: error) }
      throw error
    }
  }
}

/// The response to an exchange.
struct FuzzAnswer: Sendable {
  let status: HTTPStatus
  let id: String
  let body: Data

  init(_ response: HTTPResponse, _ body: Data) {
    status = response.status
    id = response.headers["X-Id"] ?? ""
    self.body = body
  }
}

/// Thrown if a failed download has changed the file.
struct FuzzDamage: Error {
  let error: any Error
}
