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

  /// A remote whose pages are answered by number; each names the next by `link`.
  private func shop(_ log: Shared<[HTTPRequest]>, link: @escaping @Sendable (Int) -> String?) -> Server {
    var configuration = ServerConfiguration()
    configuration.log = .discard
    return Server(
      remote: "https://shop.test", configuration: configuration,
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

  @Test func `pages follow the link to the next, as it stands, with the task's header`() async throws {
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

  @Test func `what a task computes for its header is computed for each page, the first too`() async throws {
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
  func `a link that goes round by its fragment, or brings a user of its own, is refused`(link: String) async {
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

  @Test func `parameters in the body go with every page, those in the query are the link's`() async throws {
    let log = Shared<[HTTPRequest]>([])
    let server = shop(log) { $0 < 3 ? "</list?page=\($0 + 1)>; rel=next" : nil }
    for try await _ in Search().on(server).pages() {}
    let requests = log.withLock { $0 }
    #expect(requests.count == 3 && requests.allSatisfy { $0.body.data == Data(#"{"q":"a"}"#.utf8) })
    #expect(requests.map { $0.url.query() } == [nil, "page=2", "page=3"])
  }

  @Test func `no page is asked for before it is wanted`() async throws {
    let log = Shared<[HTTPRequest]>([])
    for try await _ in List().on(shop(log) { "</list?page=\($0 + 1)>; rel=next" }).pages() { break }
    #expect(log.withLock { $0.count } == 1)
  }

  @Test func `a closure says where the next one is, by a whole or a relative URL`() async throws {
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
  ]) func `a page at another origin, or one that was given already, is an error and is not asked for`(link: String)
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
  ]) func `a Link header that cannot be parsed throws instead of ending the pages`(link: String) async {
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
  ]) func `a well-formed Link header without a next page ends the pages`(link: String) async throws {
    #expect(try await all(List().on(shop(Shared([])) { _ in link }).pages()) == [1])
  }

  @Test func `a next page that can be read counts, whatever else the header has`() async throws {
    let log = Shared<[HTTPRequest]>([])
    let server = shop(log) { $0 < 2 ? "garbage, </list?page=2>; rel=next, <open" : nil }
    #expect(try await all(List().on(server).pages()) == [1, 2])
  }

  @Test func `the error of a Link header shows no secrets of its URL`() async {
    let server = shop(Shared([])) { _ in "https://shop.test/list?page=2&access_token=s3cret; rel=next" }
    let error = await #expect(throws: TaskError.self) { try await all(List().on(server).pages()) }
    #expect(error?.code == .badResponse && error.map { "\($0)" }?.contains("s3cret") == false)
  }

  @Test func `a closure's URL that cannot be requested throws instead of ending the pages`() async throws {
    for text in ["myapp:x", "http:/x", "https://shop.test:99999/"] {
      let pages = List().on(shop(Shared([])) { _ in nil }).pages { _ in URL(string: text) }
      let error = await #expect(throws: TaskError.self, "\(text)") { try await all(pages) }
      #expect(error?.code == .badResponse, "\(text)")
    }
  }

  @Test func `the page after one that a redirect has led to another origin is not asked for with the task's header`()
    async
  {
    let log = Shared<[HTTPRequest]>([])
    let server = Server(
      remote: "https://shop.test",
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
