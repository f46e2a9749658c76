import Errand
import ErrandTesting
import Foundation
import Testing

/// Logs a line per call, followed by the requested details.
@Suite(.timeLimit(.minutes(1))) struct LogOptionsTests {
  private struct Upload: ServerPOSTTask, DataUploadingTask {
    let path = "somewhere"
    let query: HTTPQuery = ["pin": "1234"]
    let headers: HTTPHeaders = ["X-Mine": "going along"]
    var uploadData = Data("pin=1234 going up\nGET https://shop.test/ 200 OK".utf8)
    let uploadType = MediaType.plainText
  }
  private struct Hidden: ServerGETTask, UnrecordedTask { let path = "somewhere" }

  /// Returns the log output of a call.
  private func logged(
    _ task: some ServerTask, _ answers: StubLog.Answer..., options: LogOptions = [],
    configure: (inout ServerConfiguration) -> Void = { _ in }
  ) async -> [String] {
    let lines = Shared<[String]>([])
    let log = StubLog(answers)
    let time = ManualClock(.autoAdvancing)
    var configuration = ServerConfiguration()
    configuration.userAgent = "tests"
    configuration.log = LogOutput { line in lines.withLock { $0.append(line) } }
    configuration.logOptions = options
    configure(&configuration)
    let server = Server(
      "https://shop.test", configuration: configuration, transport: StubTransport { try log.answer($0) },
      manager: TaskManager(clock: CallClock(time), random: CallRandom(SeededGenerator(seed: 7))), asDefault: false)
    _ = try? await task.on(server).run()  // the log line says how the call ended
    return lines.withLock { $0 }.map { $0.replacing(/\d+\.\d{3} s/, with: "T s") }
  }

  private static let down = StubLog.Answer.data(Data("pin=1234 coming down\r\n\u{1B}[2Kmore".utf8), .plainText)

  @Test func `logs a call as one line if enabled`() async {
    #expect(await logged(PlainTask(), .status(.ok)) == [])
    #expect(
      await logged(Upload(), Self.down, options: .standard) == ["POST https://shop.test/somewhere?pin=1234 200 OK T s"])
  }

  @Test func `the log line states the time in the queue and whether the response came from the cache`() async throws {
    let (lines, gate) = (Shared<[String]>([]), Gate())
    let clock = ManualClock()
    let log = LogOutput { line in lines.withLock { $0.append(line) } }
    let server = Server(
      "https://shop.test",
      transport: StubTransport { request in
        await gate.wait()
        return .status(.ok, headers: [.cacheControl: "max-age=60", .eTag: "\"1\""], for: request)
      },
      manager: TaskManager(limits: ThrottleLimits(total: 1), clock: CallClock(clock)), asDefault: false
    ) {
      ($0.cache, $0.log, $0.logOptions, $0.coalescesRequests) = (MemoryCache(), log, .standard, false)
    }
    let first = Task { try await PlainTask().on(server).data() }
    #expect(await eventually { server.manager.runningCount == 1 })
    let second = Task { try await PlainTask(path: "other").on(server).data() }
    #expect(await eventually { server.manager.waitingCount == 1 })
    clock.advance(by: .seconds(2))
    gate.open()
    for call in [first, second] { _ = try await call.value }
    _ = try await PlainTask().on(server).data()
    #expect(
      lines.withLock { $0 } == [
        "GET https://shop.test/plain 200 OK 2.000 s",
        "GET https://shop.test/other 200 OK 2.000 s, 2.000 s in the queue",
        "GET https://shop.test/plain 200 OK 0.000 s, from the cache",
      ])
  }

  @Test(arguments: 0..<128) func `logs exactly the requested parts`(parts: Int) async throws {
    let options = LogOptions(rawValue: parts)
    let pieces = await logged(Upload(), Self.down, options: options)
    #expect(pieces.count == (parts == 0 ? 0 : 1))
    let text = pieces.joined()
    for (part, words) in [
      (LogOptions.url, "https://shop.test/somewhere"), (.status, "200 OK"), (.time, "T s"),
      (.requestHeaders, "> X-Mine: going along"), (.responseHeaders, "< Content-Type: text/plain"),
      (.requestBody, "> pin=1234 going up"), (.responseBody, "< pin=1234 coming down"),
    ] {
      let first = part.isSubset(of: .standard) ? String(text.prefix { $0 != "\n" }) : text
      #expect(first.contains(words) == options.contains(part), "\(words) in:\n\(text)")
    }
    #expect(text.contains("POST Upload") == (parts != 0 && !options.contains(.url)))
    #expect(text.contains("\n") == !options.isSubset(of: .standard))
    let others = text.split(separator: "\n").dropFirst()
    #expect(
      others.allSatisfy { $0.hasPrefix(">") || $0.hasPrefix("<") },
      "a body line looks like the start of a call:\n\(text)")
    #expect(!text.unicodeScalars.contains("\u{1B}") && !text.unicodeScalars.contains("\r"))
  }

  @Test func `a call's options override the server's`() async {
    #expect(
      await logged(PlainTask().logging(), .status(.noContent)) == ["GET https://shop.test/plain 204 No Content T s"])
    #expect(await logged(PlainTask().logging([]), .status(.ok), options: .full) == [])
    #expect(await logged(PlainTask().logging(.status), .status(.ok), options: .full) == ["GET PlainTask 200 OK"])
  }

  @Test func `logs the entire reason why a redirect is not followed`() async {
    let loop = await logged(
      PlainTask(), .status(.found, [.location: "https://shop.test/plain"]), options: .standard
    ) { $0.recorders = [RecordedCalls()] }
    let reason = "T s: 302 Found to 'https://shop.test/plain' is not followed: that URL was already requested"
    #expect(loop.count == 1 && loop.joined().contains(reason), "\(loop)")
  }

  @Test func `logs the reason for a failure or cancellation once`() async throws {
    let never = PlainTask().retry(.never)
    let missing = await logged(never, .status(.notFound), options: .standard).joined()
    #expect(missing.hasPrefix("GET https://shop.test/plain 404 Not Found T s"), "\(missing)")
    #expect(missing.ranges(of: "404").count == 1 && missing.ranges(of: "https").count == 1, "\(missing)")
    let text = await logged(never, .data(Data("x".utf8), .plainText), options: .standard) {
      $0.verify = { _, _ in throw Odd() }
    }
    #expect(text == ["GET https://shop.test/plain 200 OK T s: Odd(why: \"it is odd\")"])
    let lost = await logged(never, .failure(TaskError(.connectionLost, "lost", phase: .sending)), options: .standard)
    #expect(lost.count == 1 && lost[0].hasPrefix("GET https://shop.test/plain failed T s: lost"), "\(lost)")
    let refused = await logged(never, options: .standard) { $0.disabled = true }
    #expect(refused.count == 1 && refused[0].contains("PlainTask failed T s: "), "\(refused)")
    let cancelled = await logged(never, options: .standard) { $0.preflight = { _, _ in throw CancellationError() } }
    #expect(cancelled.count == 1 && cancelled[0].hasSuffix(" cancelled T s"), "\(cancelled)")
  }

  private struct Odd: Error { let why = "it is odd" }

  @Test func `logs the error's code if the task hides its URL`() async throws {
    let task = Hidden().retry(.never)
    let failure = TaskError(.connectionLost, "lost https://s3cret", phase: .sending)
    let lost = await logged(task, .failure(failure), options: .standard)
    #expect(lost == ["GET Hidden failed T s: connectionLost"])
    #expect(await logged(task, .failure(failure), options: .status) == ["GET Hidden failed: connectionLost"])
    #expect(await logged(task, .status(.notFound), options: .standard) == ["GET Hidden 404 Not Found T s"])
    let odd = await logged(task, .status(.ok), options: .standard) { $0.verify = { _, _ in throw Odd() } }
    #expect(odd == ["GET Hidden 200 OK T s: Odd"])
  }

  @Test func `logs the number of attempts on one line, and logs each request if enabled`() async throws {
    let task = PlainTask().retry(.fixed(retries: 1, delay: .seconds(2)))
    let line = await logged(task, .status(.serviceUnavailable), .status(.ok), options: .standard)
    #expect(line == ["GET https://shop.test/plain 200 OK T s, 2 attempts"])
    let text = await logged(
      task, .status(.serviceUnavailable, ["X-A": "1"]), .status(.ok, ["X-A": "2"]),
      options: [.status, .responseHeaders])
    #expect(
      text == [
        "GET PlainTask 200 OK, 2 attempts\n> GET PlainTask\n< 503 Service Unavailable\n< X-A: 1\n> GET PlainTask\n< 200 OK\n< X-A: 2"
      ])
  }

  @Test func `hides secrets, large bodies and the details of unrecorded tasks`() async throws {
    let text = await logged(Upload(), Self.down, options: .full) { $0.redaction.fields.insert("pin") }.joined()
    #expect(!text.contains("1234") && text.contains("going up") && text.contains("coming down"), "\(text)")
    let large = await logged(
      Upload(uploadData: Data(repeating: 65, count: 11)), .data(Data(repeating: 66, count: 21), .plainText),
      options: .full
    ) {
      $0.maxLoggedUploadSize = 10
      $0.maxLoggedDownloadSize = 20
    }.joined()
    #expect(
      !large.contains("AAA") && !large.contains("BBB") && large.contains("11 bytes") && large.contains("21 bytes"),
      "\(large)")
    #expect(await logged(Hidden(), .data(Data("secret".utf8), .plainText), options: .full) == ["GET Hidden 200 OK T s"])
  }

  @Test func `logs a stream when its body has ended`() async throws {
    let (lines, count) = (Shared<[String]>([]), Counter())
    let stub = StubServer(.data(Data("abc".utf8), .plainText)) {
      $0.logOptions = [.url, .status]
      $0.log = LogOutput { line in
        lines.withLock { $0.append(line) }
        count.add()
      }
    }
    let response = try await PlainTask().on(stub.server).stream()
    #expect(lines.withLock { $0.isEmpty })
    _ = try await response.body.collect()
    await count.reached(1)
    #expect(lines.withLock { $0 } == ["GET https://shop.test/plain 200 OK"])
  }
}
