public import ErrandFoundation

/// The pages of a listing, each by a call of its own; what ``PayloadDownloadingTask/pages()`` gives.
public struct TaskPages<Described: PayloadDownloadingTask>: AsyncSequence, Sendable {
  /// A page: its payload, and the response that it came in.
  public typealias Element = TaskResponse<Described.DownloadPayload>

  typealias Next = @Sendable (Element) throws -> URL?

  private let plan: TaskPlan
  private let next: Next

  init(_ plan: TaskPlan, _ next: @escaping Next) {
    self.plan = plan
    self.next = next
  }

  /// Begins with the first page.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(plan, next) }

  /// Yields page after page. Each page is requested only when the loop reaches it.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let plan: TaskPlan
    private let next: Next
    private var page: Element?
    /// The pages that were given, and the next: one that points back would go on for ever.
    private var known: Set<String> = []
    private var hasEnded = false

    init(_ plan: TaskPlan, _ next: @escaping Next) {
      self.plan = plan
      self.next = next
    }

    /// The next page; nil after the last.
    ///
    /// - Throws: ``TaskError`` for a page that cannot be had; with code `.badResponse` where the page before points to another
    ///   origin, or to a page that was given already. What a hook or the closure threw; `CancellationError` when the surrounding
    ///   task is cancelled.
    public mutating func next() async throws -> Element? {
      guard !hasEnded else { return nil }
      hasEnded = true  // whatever is thrown ends it
      var plan = plan
      if let page {
        guard let url = try next(page) else { return nil }
        try check(url, after: page.response)
        plan.pageURL = url
      }
      plan.headers = try plan.presentHeaders
      let response = try await Call.perform(plan, .memory) {
        TaskResponse(try $0.decoded(Described.DownloadPayload.self), $0)
      }
      known.insert(Self.mark(of: response.response.url))
      page = response
      hasEnded = false
      return response
    }

    /// What the task sends, its credentials included, is for the origin that it names.
    /// A page that a redirect gave is at another origin if any of its hops was: what it points to is no more the task's.
    private mutating func check(_ url: URL, after page: HTTPResponse) throws {
      let redaction = plan.server.configuration.redaction
      let origins = (page.redirects.map(\.url) + [page.url]).map { Origin($0) }
      guard let origin = Origin(url), origins.allSatisfy({ $0 == origin }) else {
        throw Self.refusal(page, "the next page is at another origin, '\(redaction(url).shortened)'")
      }
      guard url.user(percentEncoded: true) == nil, url.password(percentEncoded: true) == nil else {
        throw Self.refusal(page, "the next page, '\(redaction(url).shortened)', comes with a user of its own")
      }
      guard known.insert(Self.mark(of: url)).inserted else {
        throw Self.refusal(page, "the next page, '\(redaction(url).shortened)', was given already")
      }
    }

    /// A URL without its fragment, of which the server is told nothing.
    private static func mark(of url: URL) -> String { String(url.absoluteString.prefix { $0 != "#" }) }

    /// The error for what a page points to, with the call that gave the page.
    private static func refusal(_ page: HTTPResponse, _ words: String) -> TaskError {
      let error = TaskError(.badResponse, words, phase: .finishing)
      var explained = (page.maker as? Call)?.explained(error) as? TaskError ?? error
      explained.isSurelyNotSent = true  // the next page is what was to be asked for
      return explained
    }
  }
}

extension PayloadDownloadingTask {
  /// The pages of a listing that names the next one in its `Link` field, `rel="next"` (RFC 8288), as GitHub's does.
  ///
  ///     for try await page in ListWidgets().pages() { all += page.payload }
  ///
  /// Each is a call of its own, like the first but for its URL, and is made once it is wanted. Where pages are known beforehand,
  /// `server.results(of:)` runs several at once.
  public func pages() -> TaskPages<Self> {
    TaskPages(plan) { page in page.response.links.first { $0.relations.contains("next") }?.url }
  }

  /// The pages of a listing that names the next one in its payload, or in any other way.
  ///
  ///     let pages = ListWidgets().pages { $0.payload.next.flatMap { URL(string: $0) } }
  ///
  /// - Parameter next: The URL of the page after the given one, relative to its own or whole; nil after the last.
  public func pages(
    following next: @escaping @Sendable (TaskResponse<DownloadPayload>) throws -> URL?
  ) -> TaskPages<Self> {
    TaskPages(plan) { page in
      guard let url = try next(page) else { return nil }
      let base = URIReference(page.response.url.absoluteString)
      return URL(
        string: URIReference(url.absoluteString).resolved(against: base).text, encodingInvalidCharacters: false)
    }
  }
}
