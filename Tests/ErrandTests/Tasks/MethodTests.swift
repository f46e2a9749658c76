import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct MethodTests {
  private struct Own: ServerPOSTTask {
    let httpMethod = HTTPMethod("PURGE")
  }

  private struct Both: ServerGETTask, ServerPOSTTask {
    var httpMethod: HTTPMethod { .patch }
  }

  private func method(_ task: some ServerTask) async throws -> HTTPMethod? {
    let stub = StubServer(.status(.ok))
    try await task.on(stub.server).run()
    return stub.requests.first?.method
  }

  @Test func `an explicit method overrides the marker`() async throws {
    #expect(try await method(Own()) == "PURGE")
    #expect(try await method(Both()) == .patch)
  }

  @Test func `the method defaults to GET without a body and to POST with a body`() async throws {
    let url = URL.known("https://shop.test")
    #expect(try await method(PlainTask()) == .get)
    #expect(try await method(URLTask(url, body: .text("a"))) == .post)
    #expect(try await method(URLTask(url, body: .bytes(Data()))) == .post, "an empty body counts as a body")
    #expect(try await method(URLTask(url, method: .put)) == .put)
  }

  @Test func `each marker sets its method`() async throws {
    struct Get: ServerGETTask {}
    struct Post: ServerPOSTTask {}
    struct Put: ServerPUTTask {}
    struct Patch: ServerPATCHTask {}
    struct Delete: ServerDELETETask {}
    struct Head: ServerHEADTask {}
    struct Options: ServerOPTIONSTask {}
    struct Trace: ServerTRACETask {}
    struct Query: ServerQUERYTask {}
    let tasks: [any ServerTask] = [Get(), Post(), Put(), Patch(), Delete(), Head(), Options(), Trace(), Query()]
    #expect(tasks.map(\.httpMethod) == [.get, .post, .put, .patch, .delete, .head, .options, .trace, .query])
  }
}
