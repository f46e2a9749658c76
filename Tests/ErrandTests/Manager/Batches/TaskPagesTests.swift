import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct TaskPagesTests {
  private struct List: ServerGETTask, PayloadDownloadingTask {
    typealias DownloadPayload = [Int]
    let path = "list"
    let query = ["size": "2"]
    let headers = ["X-Key": "k"]
  }

  /// Creates a server that answers each request with the page's number. `link` returns the `Link` header.
  private func shop(_ log: Shared<[HTTPRequest]>, link: @escaping @Sendable (Int) -> String?) -> Server {
    var configuration = ServerConfiguration()
    configuration.log = .discard
    return Server(
      "https://shop.test", configuration: configuration,
      transport: StubTransport { request in
        log.withLock { $0.append(request) }
        let page = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems?.first {
          $0.name == "page"
        }
        let number = page?.value.flatMap { Int($0) } ?? 1
        let headers = link(number).map { HTTPHeaders([.init(.link, $0)]) } ?? [:]
        return HTTPResponse(url: request.url, headers: headers, body: HTTPResponseBody(Data("[\(number)]".utf8)))
      })
  }

  private func all(_ pages: TaskPages<Modified<List>>) async throws -> [Int] {
    var all: [Int] = []
    for try await page in pages { all += page.payload }
    return all
  }

  @Test func `follows the next link verbatim and keeps the task's headers`() async throws {
    let log = Shared<[HTTPRequest]>([])
    let server = shop(log) {
      $0 < 4 ? "<https://other.test/>; rel=prev, </list?page=\($0 + 1)&q=a%2Cb>; rel=\"last next\"" : nil
    }
    #expect(try await all(List().on(server).pages()) == [1, 2, 3, 4])
    let requests = log.withLock { $0 }
    #expect(requests.map { $0.url.query() } == ["size=2", "page=2&q=a%2Cb", "page=3&q=a%2Cb", "page=4&q=a%2Cb"])
    #expect(requests.allSatisfy { $0.headers["X-Key"] == "k" })
  }

  private struct Stamped: ServerGETTask, PayloadDownloadingTask {
    typealias DownloadPayload = [Int]
    let path = "list"
    let count: Shared<Int>
    var headers: HTTPHeaders { ["X-Stamp": "\(count.withLock { $0 })"] }
  }

  @Test func `recomputes the task's headers for every page`() async throws {
    let (log, count) = (Shared<[HTTPRequest]>([]), Shared(0))
    let pages = Stamped(count: count).on(shop(log) { $0 < 3 ? "</list?page=\($0 + 1)>; rel=next" : nil }).pages()
    for try await _ in pages { count.withLock { $0 += 1 } }
    count.withLock { $0 = 7 }
    for try await _ in pages { break }
    #expect(log.withLock { $0.map { $0.headers["X-Stamp"] } } == ["0", "1", "2", "7"])
  }

  private struct Search: ServerPOSTTask, PayloadDownloadingTask {
    typealias DownloadPayload = [Int]
    let path = "list"
    let parameters = ["q": "a"]
  }

  @Test(arguments: ["</list#a>; rel=next", "<https://u:p@shop.test/list?page=2>; rel=next"])
  func `rejects a next link that only adds a fragment or contains user info`(link: String) async {
    let log = Shared<[HTTPRequest]>([])
    let server = shop(log) { _ in link }
    let error = await #expect(throws: TaskError.self) {
      for try await _ in Plain().on(server).pages() where log.withLock({ $0.count }) > 5 { break }
    }
    #expect(error?.code == .badResponse && log.withLock { $0.count } == 1)
  }

  private struct Plain: ServerGETTask, PayloadDownloadingTask {
    typealias DownloadPayload = [Int]
    let path = "list"
  }

  @Test func `sends the body parameters with every request and takes the query from the link`() async throws {
    let log = Shared<[HTTPRequest]>([])
    let server = shop(log) { $0 < 3 ? "</list?page=\($0 + 1)>; rel=next" : nil }
    for try await _ in Search().on(server).pages() {}
    let requests = log.withLock { $0 }
    #expect(requests.count == 3 && requests.allSatisfy { $0.body.data == Data(#"{"q":"a"}"#.utf8) })
    #expect(requests.map { $0.url.query() } == [nil, "page=2", "page=3"])
  }

  @Test func `requests a page only when it is needed`() async throws {
    let log = Shared<[HTTPRequest]>([])
    for try await _ in List().on(shop(log) { "</list?page=\($0 + 1)>; rel=next" }).pages() { break }
    #expect(log.withLock { $0.count } == 1)
  }

  @Test func `a closure can return the next page's URL, absolute or relative`() async throws {
    let log = Shared<[HTTPRequest]>([])
    let pages = List().on(shop(log) { _ in nil }).pages { page in
      page.payload[0] < 3 ? URL(string: "?page=\(page.payload[0] + 1)") : nil
    }
    #expect(try await all(pages) == [1, 2, 3])
    #expect(log.withLock { $0.map(\.url.absoluteString).last } == "https://shop.test/list?page=3")
  }

  @Test(arguments: [
    "<https://evil.test/list?page=2>; rel=next", "<//evil.test/list?page=2>; rel=next",
    "<http://shop.test/?page=2>; rel=next",
    "<?size=2>; rel=next",
  ]) func `does not request a page from another origin or a page that was already fetched`(link: String)
    async
  {
    let log = Shared<[HTTPRequest]>([])
    let error = await #expect(throws: TaskError.self) { try await all(List().on(shop(log) { _ in link }).pages()) }
    #expect(error?.code == .badResponse && log.withLock { $0.count } == 1)
  }

  @Test(arguments: [
    "https://shop.test/list?page=2; rel=next", "<https://shop.test/list?page=2; rel=\"next\"",
    "</list?page=2> rel=next", "</list?page=2>; rel='next'", "</list?page=2>; rel next", "</list?page=2>; rel=",
    "</list?page=2>, rel=next", "<http://[>; rel=next", "</a>; rel=prev </list?page=2>; rel=next", "next",
    "</list?page=2>; rel=\"\"", "</list?page=2>; title=\"open; rel=prev", "{\"next\": \"/list?page=2\"}",
  ]) func `throws if the Link header can't be parsed`(link: String) async {
    let server = shop(Shared([])) { _ in link }
    let error = await #expect(throws: TaskError.self) { try await all(List().on(server).pages()) }
    #expect(error?.code == .badResponse && error?.reason.contains("Link header cannot be parsed") == true)
    #expect(error?.reason.contains(link) == true && error?.headers[.link] == link && error?.status == .ok)
    #expect(error?.isRetryable == false)
  }

  @Test(arguments: [
    "", " , ,", "</a>; rel=prev", "</a>", "</a>;;rel=prev;",
    "</a>; rel=\"prev LAST\", </b>; REL=first; title=\"x, <y>\"",
    "</a>; rel=prev; type=text/html; title*=UTF-8''%e2%82%ac; flag",
    "<mailto:a@b.test>; rel=\"http://example.net/x?a=b\"",
    "</list?page=2>; rel=next; anchor=\"#x\"", "</a>; title=two words; rel=prev",
  ]) func `ends after a valid Link header without a next page`(link: String) async throws {
    #expect(try await all(List().on(shop(Shared([])) { _ in link }).pages()) == [1])
  }

  @Test func `follows a valid next link even if the rest of the header is invalid`() async throws {
    let log = Shared<[HTTPRequest]>([])
    let server = shop(log) { $0 < 2 ? "garbage, </list?page=2>; rel=next, <open" : nil }
    #expect(try await all(List().on(server).pages()) == [1, 2])
  }

  @Test func `the error for an invalid Link header hides secrets in its URL`() async {
    let server = shop(Shared([])) { _ in "https://shop.test/list?page=2&access_token=s3cret; rel=next" }
    let error = await #expect(throws: TaskError.self) { try await all(List().on(server).pages()) }
    #expect(error?.code == .badResponse && error.map { "\($0)" }?.contains("s3cret") == false)
  }

  @Test func `throws if the closure returns an unusable URL`() async throws {
    for text in ["myapp:x", "http:/x", "https://shop.test:99999/"] {
      let pages = List().on(shop(Shared([])) { _ in nil }).pages { _ in URL(string: text) }
      let error = await #expect(throws: TaskError.self, "\(text)") { try await all(pages) }
      #expect(error?.code == .badResponse, "\(text)")
    }
  }

  @Test func `does not send the task's headers to the next page after a cross-origin redirect`()
    async
  {
    let log = Shared<[HTTPRequest]>([])
    let server = Server(
      "https://shop.test",
      transport: StubTransport { request in
        log.withLock { $0.append(request) }
        guard request.url.host() == "shop.test" else {
          let headers: HTTPHeaders = [.link: "<https://evil.test/list?page=2>; rel=next"]
          return HTTPResponse(url: request.url, headers: headers, body: HTTPResponseBody(Data("[1]".utf8)))
        }
        return .status(307, headers: [.location: "https://evil.test/list"], for: request)
      })
    let error = await #expect(throws: TaskError.self) { try await all(List().on(server).pages()) }
    #expect(error?.code == .badResponse && log.withLock { $0.count } == 2)
  }
}
