public import ErrandFoundation

/// The pages of a listing, each by a call of its own; what ``PayloadDownloadingTask/pages()`` gives.
public struct TaskPages<Described: PayloadDownloadingTask>: AsyncSequence, Sendable {
  /// A page: its payload, and the response that it came in.
  public typealias Element = TaskResponse<Described.DownloadPayload>

  /// Returns the reference to the page after the given one, or `nil` after the last.
  typealias Next = @Sendable (Element) throws -> String?

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
    /// - Throws: ``TaskError`` if the page cannot be loaded; with code `.badResponse` if the page before points to another
    ///   origin or to an earlier page, or if its `Link` field cannot be parsed. The error of a hook or of the closure;
    ///   `CancellationError` when the surrounding task is cancelled.
    public mutating func next() async throws -> Element? {
      guard !hasEnded else { return nil }
      hasEnded = true  // whatever is thrown ends it
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
          "the next page is unknown: the Link header cannot be parsed (RFC 8288 §3): '\(shown.shortened)'; "
            + "use pages(following:) to read it yourself")
      }
    }

    /// What the task sends, its credentials included, is for the origin that it names.
    /// A page that a redirect gave is at another origin if any of its hops was: what it points to is no more the task's.
    private mutating func target(of reference: String, in page: HTTPResponse) throws -> LinkedURL {
      let redaction = plan.server.configuration.redaction
      guard let url = LinkedURL.resolved(reference, against: page.url) else {
        let shown = redaction(address: reference).shortened
        throw refusal(page, "the next page is not requested: '\(shown)' is not a URL")
      }
      let shown = redaction(url).shortened
      let sources = page.redirects.map(\.url) + [page.url]
      let linked: LinkedURL
      do {
        linked = try LinkedURL(url, from: sources)
      } catch {
        throw refusal(page, "the next page, '\(shown)', is not requested: \(error.reason)")
      }
      guard sources.allSatisfy({ Origin($0) == Origin(url) }) else {
        throw refusal(page, "the next page is at another origin, '\(shown)'")
      }
      guard known.insert(Self.mark(of: url)).inserted else {
        throw refusal(page, "the next page, '\(shown)', was given already")
      }
      return linked
    }

    /// A URL without its fragment, of which the server is told nothing.
    private static func mark(of url: URL) -> String { String(url.absoluteString.prefix { $0 != "#" }) }

    /// The error for what a page points to, with the call that gave the page.
    private func refusal(_ page: HTTPResponse, _ words: String) -> TaskError {
      let error = TaskError(.badResponse, words, phase: .finishing).with(page, Data(), plan.server.configuration)
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
  /// Each page is its own call, like the first except for its URL, and is only requested when the loop reaches it. If the pages are
  /// known beforehand, `server.results(of:)` requests several concurrently.
  ///
  /// A page without such a link is the last one. If its `Link` field cannot be parsed, the loop throws instead of ending.
  public func pages() -> TaskPages<Self> {
    TaskPages(plan) { page in try Link.next(in: page.response) }
  }

  /// The pages of a listing that names the next one in its payload, or in any other way.
  ///
  ///     let pages = ListWidgets().pages { $0.payload.next.flatMap { URL(string: $0) } }
  ///
  /// - Parameter next: Returns the URL of the page after the given one, absolute or relative to it; `nil` after the last. Throw if
  ///   the page names its successor in a form that you cannot read: `nil` would end the loop.
  public func pages(
    following next: @escaping @Sendable (TaskResponse<DownloadPayload>) throws -> URL?
  ) -> TaskPages<Self> {
    TaskPages(plan) { page in try next(page)?.absoluteString }
  }
}
