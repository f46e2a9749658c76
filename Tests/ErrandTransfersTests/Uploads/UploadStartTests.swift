import Errand
import ErrandTesting
import ErrandTransfers
import Foundation
import Testing

/// The request that starts an upload, which creates a resource on the server.
@Suite(.timeLimit(.minutes(1))) struct UploadStartTests {
  private static let begun = StubLog.Answer.status(201, [.location: "/files/1"])
  private static let whole = StubLog.Answer.status(204, ["Upload-Offset": "3"])

  private func stub(_ answers: StubLog.Answer...) -> StubServer {
    let stub = StubServer()
    stub.log.enqueue(answers)
    return stub
  }

  private func upload(
    on server: Server, _ idempotency: Idempotency = .automatic, by dialect: TusUpload = .tus
  ) -> ResumableUpload {
    let task = AddWidget().on(server).idempotency(idempotency)
    return ResumableUpload(named: "a", length: 3, with: task, by: dialect) { offset, count in
      Data(Data("abc".utf8).dropFirst(Int(offset)).prefix(count))
    }
  }

  @Test(arguments: [.automatic, .neverRepeat] as [Idempotency], [.lost, .status(503)] as [StubLog.Answer])
  func `does not resend a POST that may have started an upload`(
    idempotency: Idempotency, answer: StubLog.Answer
  ) async throws {
    let stub = stub(answer, Self.begun, Self.whole)
    let error = await taskError { try await upload(on: stub.server, idempotency).run() }
    #expect(stub.requests.map(\.method) == [.post])
    #expect(error?.retryRefusal?.contains("POST is not idempotent") == true, "\(String(describing: error))")
  }

  @Test(arguments: [.key, .safeToRepeat] as [Idempotency])
  func `resends the POST that starts an upload if the task allows it`(idempotency: Idempotency) async throws {
    let stub = stub(.lost, Self.begun, Self.whole)
    try await upload(on: stub.server, idempotency).run()
    #expect(stub.requests.map(\.method) == [.post, .post, .patch])
    let keys = Set(stub.requests.prefix(2).map { $0.headers[.idempotencyKey] })
    #expect(keys.count == 1 && keys.contains(nil) == (idempotency != .key))
  }

  @Test(arguments: [.automatic, .neverRepeat] as [Idempotency])
  func `resends the POST that starts an upload if it was not sent`(idempotency: Idempotency) async throws {
    let stub = stub(.refused, .refused, Self.begun, Self.whole)
    try await upload(on: stub.server, idempotency).run()
    #expect(stub.requests.map(\.method) == [.post, .post, .post, .patch])
  }

  @Test(arguments: [.automatic, .neverRepeat] as [Idempotency])
  func `resends a rejected POST unless the task is never repeated`(idempotency: Idempotency) async throws {
    let stub = stub(.status(401), Self.begun, Self.whole)
    let error = await taskError { try await upload(on: stub.server, idempotency).run() }
    #expect(error?.status == (idempotency == .neverRepeat ? .unauthorized : nil))
    #expect(stub.requests.map(\.method) == (idempotency == .neverRepeat ? [.post] : [.post, .post, .patch]))
  }

  @Test(arguments: [.automatic, .neverRepeat] as [Idempotency])
  func `restarts a forgotten upload unless the task is never repeated`(idempotency: Idempotency) async throws {
    let stub = stub(Self.begun, .status(404), Self.begun, Self.whole)
    let error = await taskError { try await upload(on: stub.server, idempotency).run() }
    #expect((error?.retryRefusal?.contains("call discard(), then run()") == true) == (idempotency == .neverRepeat))
    let methods: [HTTPMethod] = idempotency == .neverRepeat ? [.post, .patch] : [.post, .patch, .post, .patch]
    #expect(stub.requests.map(\.method) == methods)
  }

  @Test func `sends the missing bytes of a chunk even if the task is never repeated`() async throws {
    let stub = stub(Self.begun, .lost, .status(200, ["Upload-Offset": "1"]), Self.whole)
    try await upload(on: stub.server, .neverRepeat).run()
    #expect(stub.requests.map(\.method) == [.post, .patch, .head, .patch])
    #expect(stub.requests.last?.headers["Upload-Offset"] == "1")
  }

  // MARK: Pauses

  /// A server that calls `onRequest` with the method before it answers a request.
  private func server(_ methods: Shared<[HTTPMethod]>, _ onRequest: @escaping @Sendable (HTTPMethod) -> Void) -> Server
  {
    let transport = StubTransport { request in
      methods.withLock { $0.append(request.method) }
      onRequest(request.method)
      try Task.checkCancellation()
      return switch request.method {
      case .post: .status(201, headers: [.location: "/files/1"], for: request)
      case .patch: .status(204, headers: ["Upload-Offset": "3"], for: request)
      default: .status(204, for: request)
      }
    }
    return Server("https://shop.test", transport: transport, environment: [:])
  }

  @Test(arguments: [.automatic, .neverRepeat, .safeToRepeat] as [Idempotency])
  func `a pause does not cancel the POST that starts an upload`(idempotency: Idempotency) async throws {
    let (methods, known) = (Shared<[HTTPMethod]>([]), Shared<ResumableUpload?>(nil))
    let server = server(methods) { method in
      guard method == .post else { return }
      let upload = known.withLock { $0 }
      upload?.pause()
      upload?.resume()
    }
    let upload = upload(on: server, idempotency)
    known.withLock { $0 = upload }
    try await upload.run()
    #expect(methods.withLock { $0 } == [.post, .patch])
  }

  @Test(arguments: [.options, .post] as [HTTPMethod])
  func `sends no further request if the current one ends during a pause`(pausing: HTTPMethod) async throws {
    let (methods, known) = (Shared<[HTTPMethod]>([]), Shared<ResumableUpload?>(nil))
    let (isPaused, isFirst) = (Gate(), Shared(true))
    let server = server(methods) { method in
      guard method == pausing, isFirst.withLock({ $0 }) else { return }
      isFirst.withLock { $0 = false }
      known.withLock { $0 }?.pause()
      isPaused.open()
    }
    let upload = upload(on: server, by: TusUpload(checksums: .whereOffered))
    known.withLock { $0 = upload }
    let run = Task { try await upload.run() }
    await isPaused.wait()
    await giveWay(50)
    #expect(methods.withLock { $0 } == (pausing == .post ? [.options, .post] : [.options]))
    upload.resume()
    _ = try await run.value
    let sent: [HTTPMethod] = pausing == .post ? [.options, .post, .patch] : [.options, .options, .post, .patch]
    #expect(methods.withLock { $0 } == sent)
  }

  @Test func `a pause that makes the closure return fewer bytes does not end the upload's content`() async throws {
    let received = Shared(Data())
    let transport = StubTransport { request in
      if request.method == .patch, let bytes = request.body.data { received.withLock { $0 += bytes } }
      let headers: HTTPHeaders = [.location: "/files/1", "Upload-Offset": "\(received.withLock { $0.count })"]
      return .status(request.method == .post ? 201 : 204, headers: headers, for: request)
    }
    let server = Server("https://shop.test", transport: transport, environment: [:])
    let (isReading, isFirst) = (Gate(), Shared(true))
    let upload = ResumableUpload(named: "a", with: AddWidget().on(server), by: .tus) { offset, count in
      let rest = Data("abc".utf8).dropFirst(Int(offset)).prefix(count)
      guard isFirst.withLock({ $0 }) else { return Data(rest) }
      isFirst.withLock { $0 = false }
      isReading.open()
      try? await Task.sleep(for: .seconds(50))  // until the pause cancels it
      return Data(rest.prefix(1))
    }
    let run = Task { try await upload.run() }
    await isReading.wait()
    upload.pause()
    upload.resume()
    _ = try await run.value
    #expect(received.withLock { $0 } == Data("abc".utf8))
  }
}
