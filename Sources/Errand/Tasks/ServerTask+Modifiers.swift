extension ServerTask {
  /// The task on another server.
  public func on(_ server: Server) -> Modified<Unmodified> { modified { $0.server = server } }

  /// The task with one attempt limited to `timeout`; with `.inherited`, to what the server says, with `.unlimited` to
  /// nothing. Where a body goes to or comes from a file or a stream, the limit ends with the head, and bounds
  /// the idle time of that body.
  public func timeout(_ timeout: Duration) -> Modified<Unmodified> {
    modified {
      $0.timeout = timeout
      $0.timeouts.attempt = nil
    }
  }

  /// The task with the whole call, waiting and retries included, limited to `limit`.
  public func deadline(_ limit: Duration) -> Modified<Unmodified> { modified { $0.timeouts.call = limit } }

  /// The task with other limits, where these are set.
  public func timeouts(_ timeouts: Timeouts) -> Modified<Unmodified> {
    modified { $0.timeouts = timeouts.orElse($0.timeouts) }
  }

  /// The task with a header field set; what it had under that name is replaced.
  public func header(_ name: HTTPHeaderName, _ value: String) -> Modified<Unmodified> {
    modified { $0.headers[name] = value }
  }

  /// The task with several header fields set; what it had under their names is replaced.
  public func headers(_ headers: HTTPHeaders) -> Modified<Unmodified> {
    modified { $0.headers.replace(with: headers) }
  }

  /// The task with an item added to its query.
  public func query(_ name: String, _ value: String?) -> Modified<Unmodified> {
    modified { $0.addedQuery.add(name, value) }
  }

  /// The task with more items in its query.
  public func query(_ query: HTTPQuery) -> Modified<Unmodified> { modified { $0.addedQuery.items += query.items } }

  /// The task for a part of its body: `.range(.first(1024))`, `.range(ByteRange(0..<100))`.
  ///
  /// A response with another part fails the call, and so does one with the whole, but for a ``stream()``, whose reader sees
  /// ``HTTPResponse/contentRange``.
  public func range(_ range: ByteRange) -> Modified<Unmodified> {
    modified {
      $0.headers[.range] = range.description
      $0.range = range
      guard !range.isValid, $0.problem == nil else { return }
      $0.problem = TaskError(
        .badRequest, "a range has at least one byte, and begins at 0 or later: \(range)", phase: .preparing,
        isSurelyNotSent: true)
    }
  }

  /// The task with another retry policy.
  public func retry(_ policy: RetryPolicy) -> Modified<Unmodified> { modified { $0.retryPolicy = policy } }

  /// The task tried up to `count` times more, each time after `delay`.
  public func retry(upTo count: Int, after delay: Duration) -> Modified<Unmodified> {
    retry(.fixed(retries: count, delay: delay))
  }

  /// The task sent again, beside the first attempt, when there is no answer after `delay`; up to `maximum` times, which are no retries.
  /// Does nothing for files and streams: no two attempts can write one.
  public func hedged(after delay: Duration, maximum: Int = 1) -> Modified<Unmodified> {
    modified { $0.hedging = .after(delay, maximum: maximum) }
  }

  /// The task with another statement on whether it may be sent twice.
  public func idempotency(_ idempotency: Idempotency) -> Modified<Unmodified> {
    modified { $0.idempotency = idempotency }
  }

  /// The task with another priority.
  public func priority(_ priority: CallPriority) -> Modified<Unmodified> { modified { $0.priority = priority } }

  /// The task in a serial queue.
  public func serialQueue(_ queue: SerialQueue) -> Modified<Unmodified> { modified { $0.serialQueue = queue } }

  /// The task with another rule for responses that point elsewhere.
  public func redirects(_ policy: RedirectPolicy) -> Modified<Unmodified> { modified { $0.redirectPolicy = policy } }

  /// The task with another rule for addresses that connections are made to.
  public func addresses(_ policy: AddressPolicy) -> Modified<Unmodified> { modified { $0.addressPolicy = policy } }

  /// The task signed in another way: `.bearer(token)`, or with `.none` not at all. Keep what has a token of its own, such as
  /// `.oauth2(…)`, and give it again: another one begins without a token.
  public func authenticated(_ authentication: Authentication) -> Modified<Unmodified> {
    modified { $0.authentication = authentication }
  }

  /// The task with other cookies: of another jar, none, or its own.
  public func cookies(_ policy: CookiePolicy) -> Modified<Unmodified> { modified { $0.cookiePolicy = policy } }

  /// The task with another use of its server's cache.
  public func caching(_ policy: CachePolicy) -> Modified<Unmodified> { modified { $0.cachePolicy = policy } }

  /// The task with other statuses taken for success.
  public func accepting(_ statuses: AcceptedStatuses) -> Modified<Unmodified> {
    modified { $0.acceptedStatuses = statuses }
  }

  /// The task under a name of its own in logs, recordings, spans and statistics, in the place of its type's: of endpoints, which share a
  /// type. A name is one of few and fixed, for each has an entry in the statistics.
  ///
  ///     static let search = Endpoint<Void, [Widget]>.get("widgets/search").named("Search")
  public func named(_ name: String) -> Modified<Unmodified> { modified { $0.name = name } }

  /// The task under another tag.
  public func tagged(_ tag: String) -> Modified<Unmodified> { modified { $0.tag = tag } }

  /// The task with a word on why it is run, for recordings and echoes.
  public func comment(_ comment: String) -> Modified<Unmodified> { modified { $0.comment = comment } }

  /// The task with a value that steps and observers can read.
  public func context<Key: TaskContextKey>(_ key: Key.Type, _ value: Key.Value) -> Modified<Unmodified> {
    modified { $0.context[Key.self] = value }
  }

  /// The task with its exchange echoed, or not.
  public func echo(_ style: EchoStyle = .full) -> Modified<Unmodified> { modified { $0.echoStyle = style } }

  /// The task with its calls said on its server's log, in a line each once it has ended; with `[]`, with none.
  public func logging(_ options: LogOptions = .standard) -> Modified<Unmodified> {
    modified { $0.logOptions = options }
  }

  /// The task with less, or nothing, of its exchange recorded.
  public func recording(_ style: RecordingStyle) -> Modified<Unmodified> { modified { $0.recordingStyle = style } }

  /// The task with its progress told: of the body that goes up, then of the one that comes down, at most 20 times a second and at the
  /// end of each. An attempt that follows a failed one begins anew. `tell` is called by whatever reads the body, which waits for it.
  ///
  ///     try await Export().progress { bar.show($0.fraction) }.download(to: file)
  public func progress(_ tell: @escaping @Sendable (TransferProgress) -> Void) -> Modified<Unmodified> {
    modified { $0.progress = tell }
  }

  /// The task with another type for the payload of refused responses, which ``TaskError/payload(as:)`` gives.
  public func errorPayload(_ type: (some Decodable & Sendable).Type) -> Modified<Unmodified> {
    modified { $0.errorPayload = type }
  }

  /// The task with another encoder.
  public func encoder(_ encoder: any BodyEncoder) -> Modified<Unmodified> { modified { $0.encoder = encoder } }

  /// The task with its body sent packed by gzip where it has at least `size` bytes, or an unknown number. The server must know it.
  public func gzipped(above size: Int = 0) -> Modified<Unmodified> { modified { $0.gzipUploadThreshold = size } }

  /// The task with another decoder.
  public func decoder(_ decoder: any PayloadDecoder) -> Modified<Unmodified> { modified { $0.decoder = decoder } }

  /// The task with its payload at another place of the body: `.payloadPath("data")`, `.payloadPath(["data", "items"])`, `.whole`.
  public func payloadPath(_ path: PayloadPath) -> Modified<Unmodified> { modified { $0.payloadPath = path } }
}
