public import ErrandFoundation

/// The events of a server-sent event stream, across reconnections. Created by ``ServerTask/events(until:upTo:)``.
///
/// When a connection ends, the stream reconnects with `Last-Event-ID` (HTML Standard §9.2.3), after the server's delay
/// or three seconds. Each connection is its own call, with the task's retries, limits and hooks.
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
    /// The current connection's origins, including redirects.
    private var origins: Set<Origin> = []
    /// The origins of the connection that sent the last event ID.
    private var numberedBy: Set<Origin> = []
    /// Whether the request can be resent even if the server does not send event IDs.
    private var mayRepeat = false
    private var hasEnded = false
    /// Whether there was an earlier connection.
    private var isAgain = false
    /// The current or most recent connection's call.
    private var origin = EventOrigin()
    /// The number of consecutive connections without data.
    private var idleConnections = 0
    /// Whether the current connection has received data. A comment counts.
    private var isAlive = false

    init(_ plan: TaskPlan, until terminator: String?, upTo limit: Int) {
      self.plan = plan
      self.terminator = terminator
      parser = EventStreamParser(limit: limit)
    }

    /// Returns the next event. Returns `nil` after the server has ended the stream with a 204, with the terminator, or
    /// by closing a connection after which the stream must not reconnect.
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

    /// Ends the stream. Returns the error for the reader, with the call's details.
    private mutating func ended(by error: any Error) -> any Error {
      end()
      guard let limit = error as? HTTPBodyLimitError else { return origin.explained(error) }
      let tooLong = TaskError(.bodyTooLarge, "a line or an event has \(limit)", phase: .receiving)
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
      } catch let error as TaskError where error.isRetryable {
        return try await disconnected(error)
      } catch {
        throw ended(by: error)
      }
      try await disconnected(nil)
    }

    /// The limits for the reconnection delay set by the server.
    private static let (shortestWait, longestWait) = (Duration.milliseconds(100), Duration.seconds(600))

    /// Waits until the next connection is due, or ends the stream if it must not reconnect.
    private mutating func disconnected(_ error: TaskError?) async throws {
      chunks = nil
      parser.restart()
      idleConnections = isAlive ? 0 : idleConnections + 1
      isAlive = false
      isAgain = true
      let most = plan.retryPolicy(under: plan.server.configuration).mostAttempts ?? .max
      let mayGoOn = mayRepeat || (!parser.lastID.isEmpty && plan.idempotency != .neverRepeat)
      guard mayGoOn, most > 1, idleConnections < most else {
        if let error = error ?? earlyEnd(isExpected: !mayGoOn || most <= 1) { throw ended(by: error) }
        return end()
      }
      let wait = Swift.min(Swift.max(parser.retry ?? .seconds(3), Self.shortestWait), Self.longestWait)
      do {
        try await plan.server.manager.sleep(for: wait, in: plan)
      } catch {
        throw ended(by: error)
      }
    }

    /// The error if the stream ended without the terminator, or after too many connections without data. `nil` for a
    /// normal end.
    private func earlyEnd(isExpected: Bool) -> TaskError? {
      if let terminator {
        return TaskError(
          .truncatedBody, "the event stream ended without '\(terminator.shortened)'", phase: .receiving)
      }
      if isExpected { return nil }
      return TaskError(
        .connectionLost,
        "the server closed \(idleConnections) connections in a row without sending anything: respond with 204 to end the stream",
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
        // The request can be resent, so each attempt of this call can be retried too.
        if isAgain, $0.idempotency == .automatic { $0.idempotency = .safeToRepeat }
      }
      if !id.isEmpty { plan.eventOrigins = numberedBy }
      origin = EventOrigin()  // errors from here on do not belong to the previous call
      do {
        let (response, call) = try await Call.perform(plan, .stream) { outcome in
          try outcome.call.handOver(outcome.response)
          return (outcome.response, outcome.call)
        }
        origin = EventOrigin { call.explained($0) }
        guard response.status != .noContent else { return end() }
        try Self.check(response, plan)
        // If a redirect changed the POST to a GET, reconnecting would still send a POST.
        if !isAgain { mayRepeat = call.mayBeRepeated && !call.state.withLock { $0.hasSentOnceOnly } }
        origins = Set((response.redirects.map(\.url) + [response.url]).compactMap { Origin($0) })
        chunks = response.body.makeAsyncIterator()
      } catch {
        throw ended(by: error)
      }
    }

    /// HTML §9.2.3: only a 200 with this type is an event stream. Do not reconnect after any other response.
    private static func check(_ response: HTTPResponse, _ plan: TaskPlan) throws {
      if response.status != .ok, plan.acceptedStatuses.areUsual {
        response.body.cancel()
        let reason = "\(response.status): only 200 is an event stream; accept others with .accepting(_:)"
        throw TaskError(.badStatus, reason, phase: .finishing).with(response, Data(), plan.server.configuration)
      }
      guard response.mediaType?.essence != "text/event-stream" else { return }
      response.body.cancel()
      let type = response.headers[.contentType]?.shortened ?? "no content type"
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
  /// When a connection ends or breaks, the stream reconnects with `Last-Event-ID`. The delay is three seconds, unless
  /// the server sets a different delay, which is limited to between 0.1 seconds and ten minutes. The stream reconnects
  /// only if the request can be resent or the server sends event IDs. The maximum number of consecutive connections
  /// without data is the retry policy's number of attempts. With ``RetryPolicy/never`` there is only one connection.
  ///
  /// A connection without data for ``Timeouts/idle`` counts as broken. If that limit is not set, the task's `timeout`
  /// applies, or else ``ServerConfiguration/defaultTimeout``, which is 30 seconds by default. Comments count as data. A
  /// slow reader applies backpressure to the server. Leaving the loop early ends the transfer.
  ///
  /// - Parameters:
  ///   - terminator: The data of an event that ends the stream, such as `[DONE]`. The loop does not receive it. A
  ///     stream that ends permanently without it throws ``TaskError`` with code `.truncatedBody`.
  ///   - limit: The maximum number of bytes of a line, and of an event's data. Defaults to 1 MiB.
  public func events(until terminator: String? = nil, upTo limit: Int = 1 << 20) -> ServerSentEvents {
    ServerSentEvents(plan, until: terminator, upTo: limit)
  }

  /// The events with their data decoded, by default from JSON.
  public func events<Value: Decodable & Sendable>(
    of type: Value.Type, decoder: any PayloadDecoder = JSONDecoder(), until terminator: String? = nil,
    upTo limit: Int = 1 << 20
  ) -> AsyncThrowingMapSequence<ServerSentEvents, Value> {
    events(until: terminator, upTo: limit).map { try $0.decoded(type, decoder: decoder) }
  }
}
