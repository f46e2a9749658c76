public import ErrandFoundation

/// The pages of a paginated resource. Each page is requested by a separate call. Created by
/// ``PayloadDownloadingTask/pages()``.
public struct TaskPages<Described: PayloadDownloadingTask>: AsyncSequence, Sendable {
  /// A page's payload and response.
  public typealias Element = TaskResponse<Described.DownloadPayload>

  /// Returns the link to the page after the given one, or `nil` after the last.
  typealias Next = @Sendable (Element) throws -> String?

  private let plan: TaskPlan
  private let next: Next

  init(_ plan: TaskPlan, _ next: @escaping Next) {
    self.plan = plan
    self.next = next
  }

  /// Creates an iterator that starts at the first page.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(plan, next) }

  /// Iterates over the pages. A page is requested only when the loop reaches it.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let plan: TaskPlan
    private let next: Next
    private var page: Element?
    /// The URLs of the pages so far, to detect a pagination loop.
    private var known: Set<String> = []
    private var hasEnded = false

    init(_ plan: TaskPlan, _ next: @escaping Next) {
      self.plan = plan
      self.next = next
    }

    /// Returns the next page, or `nil` after the last.
    ///
    /// - Throws: ``TaskError`` if the page can't be loaded, or with code `.badResponse` if the previous page links to
    ///   another origin or to an earlier page, or if its `Link` field can't be parsed; any error thrown by a hook or
    ///   the closure; `CancellationError` if the surrounding Swift task is cancelled.
    public mutating func next() async throws -> Element? {
      guard !hasEnded else { return nil }
      hasEnded = true  // any error ends the sequence
      var plan = plan
      if let page {
        guard let reference = try reference(after: page) else { return nil }
        plan.linkedURL = try target(of: reference, in: page.response)
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

    private func reference(after page: Element) throws -> String? {
      do {
        return try next(page)
      } catch let error as Link.Malformed {
        let field = HTTPHeaders([.init(.link, error.line)])
        let shown = plan.server.configuration.redaction(field)[.link] ?? ""
        throw refusal(
          page.response,
          "cannot find the next page: the Link header cannot be parsed (RFC 8288 §3): '\(shown.shortened)'; "
            + "to parse it yourself, use pages(following:)")
      }
    }

    /// Resolves the link to the next page. The task's headers and credentials must only be sent to its own origin, so a
    /// link is also rejected if any of the page's redirects led to another origin.
    private mutating func target(of reference: String, in page: HTTPResponse) throws -> LinkedURL {
      let redaction = plan.server.configuration.redaction
      guard let url = LinkedURL.resolved(reference, against: page.url) else {
        let shown = redaction(address: reference).shortened
        throw refusal(page, "the next page was not requested: '\(shown)' is not a valid URL")
      }
      let shown = redaction(url).shortened
      let sources = page.redirects.map(\.url) + [page.url]
      let linked: LinkedURL
      do {
        linked = try LinkedURL(url, from: sources)
      } catch {
        throw refusal(page, "the next page '\(shown)' was not requested: \(error.reason)")
      }
      guard sources.allSatisfy({ Origin($0) == Origin(url) }) else {
        throw refusal(page, "the next page '\(shown)' was not requested: it is on another origin")
      }
      guard known.insert(Self.mark(of: url)).inserted else {
        throw refusal(page, "pagination loop: the server returned '\(shown)' twice")
      }
      return linked
    }

    /// Returns a URL without its fragment, which is not sent to the server.
    private static func mark(of url: URL) -> String { String(url.absoluteString.prefix { $0 != "#" }) }

    /// Returns the error for an invalid link, with the details of the call that loaded the page.
    private func refusal(_ page: HTTPResponse, _ words: String) -> TaskError {
      let error = TaskError(.badResponse, words, phase: .finishing).with(page, Data(), plan.server.configuration)
      var explained = (page.call as? Call)?.explained(error) as? TaskError ?? error
      explained.wasNotSent = true  // the next page was not requested
      return explained
    }
  }
}

extension PayloadDownloadingTask {
  /// Returns the pages of a paginated resource whose responses link to the next page in a `Link` field (`rel="next"`,
  /// RFC 8288), as in GitHub's API.
  ///
  ///     for try await page in ListWidgets().pages() { all += page.payload }
  ///
  /// Each page is requested by a separate call, with the first call's settings and a different URL. A page is requested
  /// only when the loop reaches it. If you know the pages in advance, `server.results(of:)` can request several
  /// concurrently.
  ///
  /// A page without a link to the next page is the last. If a page's `Link` field can't be parsed, the loop throws
  /// instead of ending.
  public func pages() -> TaskPages<Self> {
    TaskPages(plan) { page in try Link.next(in: page.response) }
  }

  /// Returns the pages of a paginated resource. A closure finds the link to each next page, for example in the payload.
  ///
  ///     let pages = ListWidgets().pages { $0.payload.next.flatMap { URL(string: $0) } }
  ///
  /// - Parameter next: Returns the URL of the next page, absolute or relative to the given page, or `nil` after the
  ///   last. If the closure can't read the link, it should throw an error, because `nil` ends the loop.
  public func pages(
    following next: @escaping @Sendable (TaskResponse<DownloadPayload>) throws -> URL?
  ) -> TaskPages<Self> {
    TaskPages(plan) { page in try next(page)?.absoluteString }
  }
}
