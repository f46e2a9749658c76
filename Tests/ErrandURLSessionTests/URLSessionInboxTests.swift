import Foundation
import Testing

@testable import Errand
@testable import ErrandURLSession

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(1))) struct URLSessionInboxTests {
  private func make(method: HTTPMethod = .get, length: Int = 10) throws -> URLSessionInbox {
    var inbox = URLSessionInbox(highWater: 8, method: method)
    let url = try #require(URL(string: "https://example.com"))
    inbox.receive(
      head: try #require(
        HTTPURLResponse(
          url: url, statusCode: 200, httpVersion: nil, headerFields: ["Content-Length": "\(length)"])))
    return inbox
  }

  @Test func `pauses at the high-water mark and resumes after a read`() throws {
    var inbox = try make()
    inbox.receive(Data(count: 7))
    #expect(!inbox.wantsPause)
    inbox.receive(Data(count: 3))
    #expect(inbox.wantsPause)
    guard case .take(let chunk) = inbox.read() else { return fail("a chunk should be available") }
    #expect(chunk?.count == 10)
    #expect(!inbox.wantsPause)
  }

  @Test func `yields bytes received before a failure`() throws {
    var inbox = try make()
    inbox.receive(Data(count: 4))
    inbox.finish(URLSessionInbox.short)
    guard case .take(_?) = inbox.read() else { return fail("a chunk should be available") }
    guard case .fail = inbox.read() else { return fail("the failure should follow the bytes") }
  }

  @Test func `a body that is shorter than its stated length fails, except after HEAD`() throws {
    var short = try make()
    short.receive(Data(count: 9))
    short.finish(nil)
    _ = short.read()
    guard case .fail(let error) = short.read() else { return fail("a body that is too short should fail") }
    #expect((error as? TaskError)?.code == .truncatedBody)
    var head = try make(method: .head)
    head.finish(nil)
    guard case .take(nil) = head.read() else { return fail("a HEAD response should end without a body") }
  }

  @Test func `abandoning a body discards unread bytes but has no effect after a complete read`() throws {
    var inbox = try make(length: 4)
    inbox.receive(Data(count: 4))
    inbox.finish(nil)
    let droppedRest = inbox.abandon(CancellationError())
    #expect(droppedRest)
    guard case .fail = inbox.read() else { return fail("an abandoned body should fail") }
    var read = try make(length: 4)
    read.receive(Data(count: 4))
    read.finish(nil)
    _ = read.read()
    let wasLate = !read.abandon(CancellationError())
    #expect(wasLate)
    guard case .take(nil) = read.read() else { return fail("a body that was read completely should end") }
  }

  private func fail(_ comment: Comment) { Issue.record(comment) }
}
