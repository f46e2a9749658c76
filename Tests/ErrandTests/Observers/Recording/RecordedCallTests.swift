import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct RecordedCallTests {
  private struct Login: ServerPOSTTask, PayloadUploadingTask {
    var uploadPayload: [String: String] { ["user": "ann", "password": "s3cret"] }
    var path: String { "login" }
    var query: HTTPQuery { ["token": "s3cret", "page": "1"] }
    var headers: HTTPHeaders { [.authorization: "Bearer s3cret", "X-Mine": "shown"] }
  }

  @Test func `a recorded call contains every request, response and moment`() async throws {
    let start = Date()
    let calls = try await recordedCalls(.status(503), .widget) { server in
      let task = GetWidget().on(server).retry(upTo: 1, after: .seconds(2)).tagged("shelf").comment("why not")
      _ = try await task.download()
    }
    let call = try #require(calls.first)
    #expect(calls.count == 1 && call.task == "GetWidget" && call.tag == "shelf" && call.comment == "why not")
    #expect(call.method == .get && call.url == "https://shop.test/widgets/7" && call.status == 200)
    #expect(call.outcome == .succeeded && call.failure == nil && call.attemptCount == 2)
    #expect(call.duration == .seconds(2) && call.startedAt >= start && call.startedAt <= Date())
    #expect(call.exchanges.map(\.attempt) == [1, 2] && call.exchanges.map(\.sent) == [.zero, .seconds(2)])
    #expect(call.exchanges.map(\.response?.status) == [503, 200])
    #expect(call.exchanges.last?.response?.body?.text == #"{"id":7,"name":"Sprocket"}"#)
    #expect(call.exchanges.last?.ended == .seconds(2) && call.exchanges.first?.queued == .zero)
    #expect(call.moments.first?.kind == "callStarted" && call.moments.last?.kind == "callEnded")
    #expect(call.moments.contains { $0.kind == "delayStarted" && $0.text.contains("2.000 s") })
  }

  @Test func `hides secrets when the call is recorded`() async throws {
    let answer = StubLog.Answer.json(#"{"access_token":"s3cret","name":"shown"}"#)
    let calls = try await recordedCalls(answer) { server in
      _ = try await Login().on(server).comment("https://a:s3cret@b.test").tagged("?token=s3cret").run()
    }
    let call = try #require(calls.first)
    let json = try #require(String(data: JSONEncoder().encode(call), encoding: .utf8))
    #expect(!json.contains("s3cret") && !"\(call)".contains("s3cret"), "\(call)")
    let exchange = try #require(call.exchanges.first)
    #expect(exchange.headers["x-mine"] == "shown")
    #expect(exchange.headers[.authorization] == "<redacted>")
    #expect(exchange.body?.text?.contains("ann") == true && call.url?.hasSuffix("?token=<redacted>&page=1") == true)
    #expect(exchange.response?.body?.text == #"{"access_token":"<redacted>","name":"shown"}"#)
  }

  @Test func `a recorded call can be encoded as JSON and decoded again`() async throws {
    let calls = try await recordedCalls(.status(503), .status(404, ["X-Mine": "a"]), .widget) { server in
      _ = try? await GetWidget().on(server).retry(upTo: 1, after: .milliseconds(1500)).download()
      _ = try await Login().on(server).run()
    }
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .secondsSince1970
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .secondsSince1970
    let data = try encoder.encode(calls)
    let again = try decoder.decode([RecordedCall].self, from: data)
    #expect(again.count == 2 && again.map(\.description) == calls.map(\.description))
    #expect(again.map(\.exchanges) == calls.map(\.exchanges) && again.map(\.duration) == calls.map(\.duration))
    #expect(String(decoding: data, as: UTF8.self).contains(#""duration":1.5"#), "durations are encoded in seconds")
  }

  @Test func `recorded header fields keep their order, spelling and redactions when encoded as JSON`() async throws {
    let calls = try await recordedCalls(.status(.ok, ["x-B": "1", "X-a": "2", "X-b": "3"])) { server in
      _ = try await PlainTask().on(server).header("X-Api-Key", "s3cret").run()
    }
    let data = try JSONEncoder().encode(calls)
    let call = try #require(try JSONDecoder().decode([RecordedCall].self, from: data).first)
    let headers = try #require(call.exchanges.first?.response?.headers)
    #expect(headers.map(\.name.rawName) == ["x-B", "X-a", "X-b"] && headers.map(\.value) == ["1", "2", "3"])
    #expect(headers["X-B"] == "1, 3" && call.exchanges.first?.headers["x-api-key"] == "<redacted>")
  }

  @Test func `records only that a hidden task ran`() async throws {
    let answer = StubLog.Answer.status(404, ["X-Mine": "s3cret"])
    let calls = try await recordedCalls(answer) { server in
      let task = GetWidget().on(server).query("a", "s3cret").tagged("s3cret").comment("s3cret").recording(.hidden)
      _ = try? await task.run()
    }
    let call = try #require(calls.first)
    let json = try #require(String(data: JSONEncoder().encode(call), encoding: .utf8))
    #expect(!json.contains("s3cret") && call.isHidden && call.url == nil && call.failure == nil && call.moments.isEmpty)
    #expect(call.status == 404 && call.outcome == .failed && call.attemptCount == 1)
  }

  @Test func `keeps a binary body only if it can't contain secrets`() async throws {
    let bytes = Data([0x89, 0x50, 0, 1])
    func body(_ type: MediaType, _ redaction: Redaction = .standard) async throws -> RecordedCall.Body? {
      let calls = try await recordedCalls(.data(bytes, type), configure: { $0.redaction = redaction }) { server in
        _ = try await PlainTask().on(server).downloadData()
      }
      return calls.first?.exchanges.first?.response?.body
    }
    #expect(try await body("image/png")?.data == bytes)
    #expect(try await body("image/svg+xml")?.data == nil)
    let compressed = try await body("application/protobuf")
    #expect(compressed?.data == nil && compressed?.text == nil && compressed?.size == 4)
    #expect(compressed?.note == "<4 bytes of application/protobuf>")
    #expect(try await body("application/protobuf", .none)?.data == bytes)
  }

  @Test func `the recording of a call answered from the cache contains the response head`() async throws {
    let answer = StubLog.Answer.status(.ok, [.cacheControl: "max-age=60", "X-Mine": "kept"])
    let calls = try await recordedCalls(answer, configure: { $0.cache = MemoryCache() }) { server in
      for _ in 0..<2 { _ = try await PlainTask().on(server).downloadData() }
    }
    let call = try #require(calls.last)
    #expect(calls.count == 2 && call.exchanges.isEmpty && call.answer?.status == .ok)
    #expect(call.answer?.headers["X-Mine"] == "kept")
    #expect("\(call)".contains("\nGET https://shop.test/plain\n\n200 OK\n"), "\(call)")
  }

  @Test func `a call is recorded only if there is a recorder`() async throws {
    let (recorder, plan) = (RecordedCalls(), GetWidget().on(StubServer(.widget).server).plan)
    #expect(!Call(plan, .memory).isShown)
    await plan.server.update { $0.recorders = [recorder] }
    #expect(Call(plan, .memory).isShown)
  }

  @Test func `drops the oldest calls above the limit and counts the dropped calls`() async throws {
    let few = RecordedCalls(limit: 10)
    let small = RecordedCalls(byteLimit: 1)
    _ = try await recordedCalls(.widget, configure: { $0.recorders = [few, small] }) { server in
      for id in 0..<35 { _ = try await GetWidget(id: id).on(server).download() }
    }
    #expect(few.calls.count <= 10 && few.calls.count >= 9 && few.calls.count + few.dropped == 35)
    #expect(few.calls.last?.url == "https://shop.test/widgets/34")
    #expect(small.calls.map(\.url) == ["https://shop.test/widgets/34"] && small.dropped == 34)
    few.removeAll()
    #expect(few.calls.isEmpty && few.dropped == 0)
  }
}
