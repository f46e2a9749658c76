import Errand
import ErrandTesting
import ErrandURLSession
import Foundation
import Testing

/// Foundation's `Progress` updated with Errand's progress.
@Suite(.timeLimit(.minutes(1))) struct ProgressTests {
  private struct Send: ServerPUTTask, DataUploadingTask {
    let uploadData: Data
    let path = "x"
  }

  private func reported(_ size: Int, answer: HTTPHeaders = [:]) async throws -> [TransferProgress] {
    let all = Shared<[TransferProgress]>([])
    let transport = StubTransport { request in
      try await request.body.forEachChunk { _ in }
      return HTTPResponse(url: request.url, headers: answer, body: HTTPResponseBody(Data(count: 500)))
    }
    let server = Server("https://shop.test", transport: transport, environment: [:])
    _ = try await Send(uploadData: Data(count: size)).progress { progress in all.withLock { $0.append(progress) } }
      .on(server).downloadData()
    return all.withLock { $0 }
  }

  @Test func `progress copies the byte counts and finishes with the transfer`() async throws {
    let progress = Progress(totalUnitCount: 1)
    let up = try await reported(200_000).filter { $0.direction == .up }
    let first = try #require(up.first)
    progress.update(with: first)
    #expect(progress.totalUnitCount == 200_000 && progress.completedUnitCount == first.completed)
    #expect(!progress.isIndeterminate && !progress.isFinished)
    try progress.update(with: #require(up.last))
    #expect(progress.completedUnitCount == 200_000 && progress.isFinished)
  }

  @Test func `progress is indeterminate without a total, and finished for an empty body`()
    async throws
  {
    let progress = Progress(totalUnitCount: 1)
    let down = try await reported(0).filter { $0.direction == .down }
    try progress.update(with: #require(down.first))
    #expect(progress.isIndeterminate)
    try progress.update(with: #require(down.last))
    #expect(progress.isFinished && progress.completedUnitCount == 500)
    let empty = Progress(totalUnitCount: 1)
    try await empty.update(with: #require(reported(0).first { $0.direction == .up }))
    #expect(empty.isFinished)
  }

  @Test func `progress follows the download of a started task`() async throws {
    let transport = StubTransport { request in
      let headers: HTTPHeaders = [.contentLength: "500"]
      return HTTPResponse(url: request.url, headers: headers, body: HTTPResponseBody(Data(count: 500)))
    }
    let server = Server("https://shop.test", transport: transport, environment: [:])
    let handle = server.manager.start(Send(uploadData: Data(count: 10)).on(server))
    let progress = Progress(following: handle.progress, .down)
    _ = try await handle.value
    #expect(await eventually { progress.isFinished })
    #expect(progress.totalUnitCount == 500)
  }

  @Test func `URLSession rejects trailers before sending`() async throws {
    let body = HTTPBody.text("hi").trailers(["X-Sum"]) { ["X-Sum": "7"] }
    let request = HTTPRequest(.put, try #require(URL(string: "http://127.0.0.1:9")), body: body)
    let error = await #expect(throws: TaskError.self) { try await URLSessionTransport().send(request) }
    #expect(error?.code == .transportUnavailable && error?.wasNotSent == true)
  }
}
