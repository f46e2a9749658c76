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

  @Test func `pauses above the high-water mark and resumes after a read`() throws {
    var inbox = try make()
    inbox.receive(Data(count: 7))
    #expect(!inbox.wantsPause)
    inbox.receive(Data(count: 3))
    #expect(inbox.wantsPause)
    guard case .take(let chunk) = inbox.read() else { return fail("there is a chunk") }
    #expect(chunk?.count == 10)
    #expect(!inbox.wantsPause)
  }

  @Test func `yields bytes received before a failure`() throws {
    var inbox = try make()
    inbox.receive(Data(count: 4))
    inbox.finish(URLSessionInbox.short)
    guard case .take(_?) = inbox.read() else { return fail("there is a chunk") }
    guard case .fail = inbox.read() else { return fail("then comes the failure") }
  }

  @Test func `ending before the stated length is a failure, except after HEAD`() throws {
    var short = try make()
    short.receive(Data(count: 9))
    short.finish(nil)
    _ = short.read()
    guard case .fail(let error) = short.read() else { return fail("it is too short") }
    #expect((error as? TaskError)?.code == .truncatedBody)
    var head = try make(method: .head)
    head.finish(nil)
    guard case .take(nil) = head.read() else { return fail("it has ended") }
  }

  @Test func `abandoning discards buffered bytes, unless everything was read`() throws {
    var inbox = try make(length: 4)
    inbox.receive(Data(count: 4))
    inbox.finish(nil)
    let droppedRest = inbox.abandon(CancellationError())
    #expect(droppedRest)
    guard case .fail = inbox.read() else { return fail("it was given up") }
    var read = try make(length: 4)
    read.receive(Data(count: 4))
    read.finish(nil)
    _ = read.read()
    let wasLate = !read.abandon(CancellationError())
    #expect(wasLate)
    guard case .take(nil) = read.read() else { return fail("it has ended well") }
  }

  private func fail(_ comment: Comment) { Issue.record(comment) }
}
