public import ErrandFoundation

/// The events of a server-sent event stream, across reconnections. Created by ``ServerTask/events(until:upTo:)``.
///
/// When a connection ends, the stream reconnects with `Last-Event-ID` (HTML Standard §9.2.3). The delay is three
/// seconds, unless the server sets a different delay. Each connection is a separate call, with the task's retries,
/// limits and hooks.
public struct ServerSentEvents: AsyncSequence, Sendable {
  /// An event.
  public typealias Element = ServerSentEvent

  private let plan: TaskPlan
  private let terminator: String?
  private let limit: Int

  init(_ plan: TaskPlan, until terminator: String?, upTo limit: Int) {
    self.plan = plan
    self.terminator = terminator
    self.limit = limit
  }

  /// Creates an iterator, which opens the first connection when the first event is requested.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(plan, until: terminator, upTo: limit) }

  /// Reads events and reconnects when necessary. Releasing the iterator ends the transfer.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let plan: TaskPlan
    private let terminator: String?
    private var parser: EventStreamParser
    private var events: ArraySlice<ServerSentEvent> = []
    private var chunks: HTTPResponseBody.AsyncIterator?
    /// The origins of the current connection's URL and of its redirects.
    private var origins: Set<Origin> = []
    /// The origins of the connection that sent the last event ID.
    private var numberedBy: Set<Origin> = []
    /// Whether the request can be resent even if the server does not send event IDs.
    private var mayRepeat = false
    private var hasEnded = false
    /// Whether there was an earlier connection.
    private var isAgain = false
    /// The call of the current or most recent connection.
    private var origin = EventOrigin()
    /// The number of consecutive connections that the server closed without sending data.
    private var idleConnections = 0
    /// The number of consecutive connections that failed without data. A silent connection has not failed.
    private var failures = 0
    /// Whether the current connection has received data. Comments count as data.
    private var isAlive = false

    init(_ plan: TaskPlan, until terminator: String?, upTo limit: Int) {
      var plan = plan
      plan.operation = OperationKey()
      plan.keepSettings()
      self.plan = plan
      self.terminator = terminator
      parser = EventStreamParser(limit: limit)
    }

    /// Returns the next event, or `nil` when the stream has ended. The server ends a stream by responding with 204, by
    /// sending the terminator, or by closing a connection after which the stream must not reconnect.
    ///
    /// - Throws: ``TaskError`` if a connection fails permanently or is not an event stream, or with code
    ///   `.bodyTooLarge` if an event is too long; `CancellationError` if the surrounding Swift task is cancelled.
    public mutating func next() async throws -> ServerSentEvent? {
      while !hasEnded {
        if var event = events.popFirst() {
          guard event.data != terminator else { break }
          event.origin = origin
          return event
        }
        if let chunks {
          do {
            try parser.check()
          } catch {
            throw ended(by: error)
          }
          try await read(chunks)
        } else {
          try await connect()
        }
      }
      end()
      return nil
    }

    private mutating func end() {
      hasEnded = true
      chunks = nil
      events = []
    }

    /// Ends the stream and returns the error to throw, with the call's details.
    private mutating func ended(by error: any Error) -> any Error {
      end()
      guard let limit = error as? HTTPBodyLimitError else { return origin.explained(error) }
      let tooLong = TaskError(
        .bodyTooLarge, "a line or event exceeds the limit of \(limit.limit) bytes: raise it with upTo:",
        phase: .receiving)
      return origin.explained(tooLong)
    }

    private mutating func read(_ chunks: HTTPResponseBody.AsyncIterator) async throws {
      do {
        if let chunk = try await chunks.next() {
          isAlive = true
          let id = parser.lastID
          events = try parser.events(endingIn: chunk)[...]
          if parser.lastID != id { numberedBy = origins }
          return
        }
      } catch let error as TaskError where error.isTransient {
        // A stream may be silent for longer than its time limit.
        failures = isAlive || error.timer == .idle ? 0 : failures + 1
        return try await disconnected(error)
      } catch {
        throw ended(by: error)
      }
      failures = 0
      try await disconnected(nil)
    }

    /// The limits of the reconnection delay that the server can set.
    private static let (shortestWait, longestWait) = (Duration.milliseconds(100), Duration.seconds(600))

    /// The delay before the next connection. It doubles with each failure, up to a minute (HTML Standard §9.2.3).
    private var wait: Duration {
      let stated = Swift.min(Swift.max(parser.retry ?? .seconds(3), Self.shortestWait), Self.longestWait)
      return Swift.max(stated, Swift.min(stated * (1 << Swift.min(Swift.max(failures - 1, 0), 16)), .seconds(60)))
    }

    /// Waits until the next connection is due, or ends the stream if it must not reconnect. `Retry-After` can lengthen
    /// the delay.
    private mutating func disconnected(_ error: TaskError?) async throws {
      chunks = nil
      parser.restart()
      idleConnections = isAlive ? 0 : idleConnections + (error == nil ? 1 : 0)
      isAlive = false
      isAgain = true
      let most = plan.retryPolicy(under: plan.settings.configuration).mostAttempts ?? .max
      let mayGoOn = mayRepeat || (!parser.lastID.isEmpty && plan.idempotency != .neverRepeat)
      guard mayGoOn, most > 1, idleConnections < most else {
        if let error = error ?? earlyEnd(isExpected: !mayGoOn || most <= 1) { throw ended(by: error) }
        return end()
      }
      let manager = plan.server.manager
      let stated = error.flatMap { RetryAfter.delay(in: $0.headers, now: manager.dates.now) } ?? .zero
      do {
        try await manager.sleep(for: Swift.max(wait, Swift.min(stated, Self.longestWait)), in: plan)
      } catch {
        throw ended(by: error)
      }
    }

    /// Returns an error if the stream ended without the terminator, or after too many connections without data. Returns
    /// `nil` if the stream ended normally.
    private func earlyEnd(isExpected: Bool) -> TaskError? {
      if let terminator {
        return TaskError(
          .truncatedBody, "the event stream ended without '\(terminator.shortened)'", phase: .receiving)
      }
      if isExpected { return nil }
      return TaskError(
        .connectionLost,
        "the server closed \(idleConnections) connections in a row without sending data: to end the stream, it must respond with 204",
        phase: .receiving)
    }

    private mutating func connect() async throws {
      var plan = plan
      let (id, isAgain) = (parser.lastID, isAgain)
      plan.headers = try plan.presentHeaders  // they may have changed since the last connection
      plan.change {
        $0.headers.setDefault("text/event-stream", for: .accept)
        $0.cachePolicy = .none
        // HTML §9.2.2: the cache mode is no-store. Like Fetch, send `Pragma` for HTTP/1.0 caches.
        $0.headers.setDefault("no-store", for: .cacheControl)
        $0.headers.setDefault("no-cache", for: .pragma)
        if !id.isEmpty { $0.headers[.lastEventID] = id }
        // A stream reconnects only if its request can be resent, so the attempts of this call can be retried too.
        if isAgain, $0.idempotency == .automatic { $0.idempotency = .safeToRepeat }
      }
      if !id.isEmpty { plan.eventOrigins = numberedBy }
      origin = EventOrigin()  // later errors do not belong to the previous call
      do {
        let (response, call) = try await Call.perform(plan, .stream) { ($0.response, $0.call) }
        origin = EventOrigin { call.explained($0) }
        guard response.status != .noContent else { return end() }
        try Self.check(response, plan)
        // Reconnecting sends a POST again, even if a redirect changed the first POST to a GET.
        if !isAgain { mayRepeat = call.state.withLock { $0.sent.onceOnly } == nil }
        origins = Set((response.redirects.map(\.url) + [response.url]).compactMap { Origin($0) })
        chunks = response.body.makeAsyncIterator()
      } catch let error as TaskError where isAgain && error.isTransient {
        failures += 1
        try await disconnected(error)  // the server may be restarting
      } catch {
        throw ended(by: error)
      }
    }

    /// HTML §9.2.3: only a 200 with this type is an event stream. Do not reconnect after any other response.
    private static func check(_ response: HTTPResponse, _ plan: TaskPlan) throws {
      if response.status != .ok, plan.acceptedStatuses.areUsual {
        response.body.cancel()
        let reason = "\(response.status): expected 200 for an event stream; to accept others, use .accepting(_:)"
        throw TaskError(.badStatus, reason, phase: .finishing).with(response, Data(), plan.settings.configuration)
      }
      guard response.mediaType?.essence != "text/event-stream" else { return }
      response.body.cancel()
      let type = response.headers[.contentType]?.shortened ?? "a response without Content-Type"
      throw TaskError(
        .badResponse, "\(response.status): expected an event stream, got \(type)", phase: .finishing)
    }
  }
}

extension ServerTask {
  /// Runs the task and returns the events as they arrive.
  ///
  ///     for try await event in Prices().events() { show(try event.decoded(Price.self)) }
  ///
  /// When a connection ends or fails, the stream reconnects with `Last-Event-ID`. The delay is three seconds, unless
  /// the server sets a delay, which can be from 0.1 seconds to ten minutes. The stream reconnects only if the request
  /// can be resent or the server sends event IDs. The retry policy's number of attempts limits how many consecutive
  /// connections the server can close without data. If the first connection fails, the loop throws. Later, it reconnects
  /// until it succeeds or the failure is permanent, and the delay doubles up to a minute. With ``RetryPolicy/never``
  /// there is only one connection.
  ///
  /// A connection fails if it receives no data for ``Timeouts/idle``. If that timeout is not set, the task's `timeout`
  /// applies, or else ``ServerConfiguration/defaultTimeout``, which is 30 seconds by default. Comments count as data. A
  /// slow reader applies backpressure to the server. Leaving the loop early ends the transfer.
  ///
  /// - Parameters:
  ///   - terminator: The data of an event that ends the stream, such as `[DONE]`. The loop does not receive that event.
  ///     If the stream ends permanently without it, the loop throws ``TaskError`` with code `.truncatedBody`. A 204 ends
  ///     the stream without an error.
  ///   - limit: The maximum number of bytes in a line, and in the data of an event. Defaults to 1 MiB.
  public func events(until terminator: String? = nil, upTo limit: Int = 1 << 20) -> ServerSentEvents {
    ServerSentEvents(plan, until: terminator, upTo: limit)
  }

  /// Runs the task and returns the decoded data of the events as they arrive. Decodes JSON by default.
  public func events<Value: Decodable & Sendable>(
    of type: Value.Type, decoder: any PayloadDecoder = JSONDecoder(), until terminator: String? = nil,
    upTo limit: Int = 1 << 20
  ) -> AsyncThrowingMapSequence<ServerSentEvents, Value> {
    events(until: terminator, upTo: limit).map { try $0.decoded(type, decoder: decoder) }
  }
}
