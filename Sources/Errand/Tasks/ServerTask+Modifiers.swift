extension ServerTask {
  /// Sends the task to a different server.
  public func on(_ server: Server) -> Modified<Unmodified> { modified { $0.server = server } }

  /// Sets the time limit for one attempt. `.inherited` uses the server's limit, and `.unlimited` sets no limit.
  ///
  /// If a body is read from or written to a file or a stream, the limit applies to the time until the response head
  /// arrives, and to any time in which that body is idle.
  public func timeout(_ timeout: Duration) -> Modified<Unmodified> {
    modified {
      $0.timeout = timeout
      $0.timeouts.attempt = nil
    }
  }

  /// Sets the time limit for the entire call, including waiting and retries.
  public func deadline(_ limit: Duration) -> Modified<Unmodified> { modified { $0.timeouts.call = limit } }

  /// Sets the limits that are not `nil` in `timeouts`. The other limits stay unchanged.
  public func timeouts(_ timeouts: Timeouts) -> Modified<Unmodified> {
    modified { $0.timeouts = timeouts.orElse($0.timeouts) }
  }

  /// Sets a header field, replacing any existing fields with that name.
  public func header(_ name: HTTPHeaderName, _ value: String) -> Modified<Unmodified> {
    modified { $0.headers[name] = value }
  }

  /// Sets several header fields, replacing any existing fields with those names.
  public func headers(_ headers: HTTPHeaders) -> Modified<Unmodified> {
    modified { $0.headers.replace(with: headers) }
  }

  /// Adds an item to the query.
  public func query(_ name: String, _ value: String?) -> Modified<Unmodified> {
    modified { $0.addedQuery.add(name, value) }
  }

  /// Adds items to the query.
  public func query(_ query: HTTPQuery) -> Modified<Unmodified> { modified { $0.addedQuery.items += query.items } }

  /// Requests a byte range of the body, such as `.range(.first(1024))` or `.range(ByteRange(0..<100))`.
  ///
  /// The call fails if the response contains a different range or the entire body. ``stream()`` accepts both: check the
  /// response's ``HTTPResponse/contentRange``.
  public func range(_ range: ByteRange) -> Modified<Unmodified> {
    modified {
      $0.headers[.range] = range.description
      $0.range = range
      guard !range.isValid, $0.problem == nil else { return }
      $0.problem = TaskError(
        .badRequest, "the range \(range) is invalid: it must contain at least one byte and start at 0 or later",
        phase: .preparing,
        wasNotSent: true)
    }
  }

  /// Sets the retry policy.
  public func retry(_ policy: RetryPolicy) -> Modified<Unmodified> { modified { $0.retryPolicy = policy } }

  /// Retries the task up to `count` times, waiting for `delay` before each retry.
  public func retry(upTo count: Int, after delay: Duration) -> Modified<Unmodified> {
    retry(.fixed(retries: count, delay: delay))
  }

  /// Sends the request again, concurrently with the first attempt, if no response arrives within `delay`. Sends up to
  /// `maximum` such hedges, which don't count as retries. Ignored if a body is a file or a stream, because concurrent
  /// attempts can't share one.
  public func hedged(after delay: Duration, maximum: Int = 1) -> Modified<Unmodified> {
    modified { $0.hedging = .after(delay, maximum: maximum) }
  }

  /// Sets whether the request can be sent more than once.
  public func idempotency(_ idempotency: Idempotency) -> Modified<Unmodified> {
    modified { $0.idempotency = idempotency }
  }

  /// Sets the priority among calls that wait for a slot.
  public func priority(_ priority: CallPriority) -> Modified<Unmodified> { modified { $0.priority = priority } }

  /// Runs the task in a serial queue.
  public func serialQueue(_ queue: SerialQueue) -> Modified<Unmodified> { modified { $0.serialQueue = queue } }

  /// Sets the policy for redirects.
  public func redirects(_ policy: RedirectPolicy) -> Modified<Unmodified> { modified { $0.redirectPolicy = policy } }

  /// Sets the policy for the IP addresses to connect to.
  public func addresses(_ policy: AddressPolicy) -> Modified<Unmodified> { modified { $0.addressPolicy = policy } }

  /// Sets the authentication, such as `.bearer(token)` or `.none`. Keep and reuse an authentication that stores a
  /// token, such as `.oauth2(…)`: a new one starts without a token.
  public func authenticated(_ authentication: Authentication) -> Modified<Unmodified> {
    modified { $0.authentication = authentication }
  }

  /// Sets which cookies are used: those in a different jar, none, or only the ones that the task sets.
  public func cookies(_ policy: CookiePolicy) -> Modified<Unmodified> { modified { $0.cookiePolicy = policy } }

  /// Sets how the task uses its server's cache.
  public func caching(_ policy: CachePolicy) -> Modified<Unmodified> { modified { $0.cachePolicy = policy } }

  /// Sets the statuses that count as success.
  public func accepting(_ statuses: AcceptedStatuses) -> Modified<Unmodified> {
    modified { $0.acceptedStatuses = statuses }
  }

  /// Sets the name in logs, recordings, spans and statistics. It replaces the type's name, which all endpoints with the
  /// same payload types share. Use a small, fixed set of names, because each name has its own entry in the statistics.
  ///
  ///     static let search = Endpoint<Void, [Widget]>.get("widgets/search").named("Search")
  public func named(_ name: String) -> Modified<Unmodified> { modified { $0.name = name } }

  /// Sets the tag used to cancel calls together.
  public func tagged(_ tag: String) -> Modified<Unmodified> { modified { $0.tag = tag } }

  /// Sets a note that explains why the task runs. It is shown in recordings and echoes.
  public func comment(_ comment: String) -> Modified<Unmodified> { modified { $0.comment = comment } }

  /// Sets a value that steps and observers can read.
  public func context<Key: TaskContextKey>(_ key: Key.Type, _ value: Key.Value) -> Modified<Unmodified> {
    modified { $0.context[Key.self] = value }
  }

  /// Sets how the exchange is echoed.
  public func echo(_ style: EchoStyle = .full) -> Modified<Unmodified> { modified { $0.echoStyle = style } }

  /// Logs each call on one line of the server's log when the call ends. `[]` turns this off.
  public func logging(_ options: LogOptions = .standard) -> Modified<Unmodified> {
    modified { $0.logOptions = options }
  }

  /// Sets which parts of the exchange are recorded.
  public func recording(_ style: RecordingStyle) -> Modified<Unmodified> { modified { $0.recordingStyle = style } }

  /// Reports progress, first of the request body, then of the response body. `notify` is called at most 20 times a
  /// second, and at the end of each body. Progress restarts with each attempt. The transfer pauses until `notify`
  /// returns.
  ///
  ///     try await Export().progress { bar.show($0.fraction) }.download(to: file)
  public func progress(_ notify: @escaping @Sendable (TransferProgress) -> Void) -> Modified<Unmodified> {
    modified { $0.progress = notify }
  }

  /// Sets the type that ``TaskError/payload(as:)`` decodes from the body of an error response.
  public func errorPayload(_ type: (some Decodable & Sendable).Type) -> Modified<Unmodified> {
    modified { $0.errorPayload = type }
  }

  /// Sets the encoder.
  public func encoder(_ encoder: any BodyEncoder) -> Modified<Unmodified> { modified { $0.encoder = encoder } }

  /// Compresses the body with gzip if its size is unknown or at least `size` bytes. The server must support this.
  public func gzipped(above size: Int = 0) -> Modified<Unmodified> { modified { $0.gzipUploadThreshold = size } }

  /// Sets the decoder.
  public func decoder(_ decoder: any PayloadDecoder) -> Modified<Unmodified> { modified { $0.decoder = decoder } }

  /// Sets the path to the payload in the response body, such as `"data"`, `["data", "items"]` or `.whole`.
  public func payloadPath(_ path: PayloadPath) -> Modified<Unmodified> { modified { $0.payloadPath = path } }
}
