public import ErrandFoundation

/// The events of a stream, over as many connections as it takes; what ``ServerTask/events(until:upTo:)`` gives.
///
/// Where a connection ends, another is made after the time that the server has stated, three seconds unless it has, with
/// `Last-Event-ID` (HTML Standard §9.2.3). Each is a call of its own, with the task's retries, limits and hooks.
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

  /// Begins with the first connection.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(plan, until: terminator, upTo: limit) }

  /// Reads events, and connects again where that is due. Ends the transfer when it is released.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let plan: TaskPlan
    private let terminator: String?
    private var parser: EventStreamParser
    private var events: ArraySlice<ServerSentEvent> = []
    private var chunks: HTTPResponseBody.AsyncIterator?
    /// The origins that the present connection leads over.
    private var origins: Set<Origin> = []
    /// Those that the one led over that gave the last number.
    private var numberedBy: Set<Origin> = []
    /// True where the request may be sent again whatever was received.
    private var mayRepeat = false
    private var hasEnded = false
    /// True once there was a connection, so that another may be made.
    private var isAgain = false
    /// The call of the present connection, or of the last one.
    private var origin = EventOrigin()
    /// The connections in a row that brought nothing.
    private var idleConnections = 0
    /// True once the present connection has brought something, if only a comment.
    private var isAlive = false

    init(_ plan: TaskPlan, until terminator: String?, upTo limit: Int) {
      self.plan = plan
      self.terminator = terminator
      parser = EventStreamParser(limit: limit)
    }

    /// The next event; nil where the server has ended the stream: by 204, by the terminator, or by an end that no other
    /// connection may follow.
    ///
    /// - Throws: ``TaskError`` where a connection fails for good or is no event stream, with code `.bodyTooLarge` for an event
    ///   that is too long, or `CancellationError` when the surrounding task is cancelled.
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

    /// Ends the stream; returns the error for its reader, with the call that it happened in.
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

    /// The bounds of the wait that a server may ask for.
    private static let (shortestWait, longestWait) = (Duration.milliseconds(100), Duration.seconds(600))

    /// Waits until the next connection is due; ends the stream where there will be none.
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

    /// The error for an end without the terminator, or one that no server has stated; nil where it is as good as stated.
    private func earlyEnd(isExpected: Bool) -> TaskError? {
      if let terminator {
        return TaskError(
          .truncatedBody, "the stream of events ended without '\(terminator.shortened)'", phase: .receiving)
      }
      if isExpected { return nil }
      return TaskError(
        .connectionLost,
        "the server has ended \(idleConnections) connections in a row and sent nothing: 204 would end the stream",
        phase: .receiving)
    }

    private mutating func connect() async throws {
      var plan = plan
      let (id, isAgain) = (parser.lastID, isAgain)
      plan.headers = try plan.presentHeaders  // hours may have passed since the last one
      plan.change {
        $0.headers.setDefault("text/event-stream", for: .accept)
        $0.cachePolicy = .none
        // HTML §9.2.2: the cache mode is no-store. Pragma says the same to caches of HTTP/1.0, as Fetch does.
        $0.headers.setDefault("no-store", for: .cacheControl)
        $0.headers.setDefault("no-cache", for: .pragma)
        if !id.isEmpty { $0.headers[.lastEventID] = id }
        // It was found that it may be sent again: so may each attempt of this call.
        if isAgain, $0.idempotency == .automatic { $0.idempotency = .safeToRepeat }
      }
      if !id.isEmpty { plan.eventOrigins = numberedBy }
      origin = EventOrigin()  // what happens from here on is not the last call's
      do {
        let (response, call) = try await Call.perform(plan, .stream) { outcome in
          try outcome.call.handOver(outcome.response)
          return (outcome.response, outcome.call)
        }
        origin = EventOrigin { call.explained($0) }
        guard response.status != .noContent else { return end() }
        try Self.check(response, plan)
        // A POST that a redirect made a GET of would be a POST again.
        if !isAgain { mayRepeat = call.mayBeRepeated && !call.state.withLock { $0.hasSentOnceOnly } }
        origins = Set((response.redirects.map(\.url) + [response.url]).compactMap { Origin($0) })
        chunks = response.body.makeAsyncIterator()
      } catch {
        throw ended(by: error)
      }
    }

    /// HTML §9.2.3: only a 200 of this type is an event stream, and nothing else is a reason to reconnect.
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
        .badResponse, "\(response.status): no event stream, but \(type)", phase: .finishing)
    }
  }
}

extension ServerTask {
  /// Runs the task and gives the events that the server sends, as they come.
  ///
  ///     for try await event in Prices().events() { show(try event.decoded(Price.self)) }
  ///
  /// Where a connection ends or breaks, another is made, with `Last-Event-ID`, after the time that the server has stated, from 0.1
  /// seconds to ten minutes, three seconds unless it has. That is done where the request may be sent twice, or the server has numbered its events; and as long
  /// as not all attempts of the retry policy in a row bring nothing: with ``RetryPolicy/never`` there is one connection.
  /// A connection that is silent for as long as ``Timeouts/idle`` counts as broken, or where that is not set for as long as the task's
  /// `timeout`, then ``ServerConfiguration/defaultTimeout``, 30 seconds; comments are no silence.
  /// A slow reader makes the server wait; leaving the loop early ends the transfer.
  ///
  /// - Parameters:
  ///   - terminator: The data of an event that ends the stream, such as `[DONE]`; it is not given. A stream that ends for good
  ///     without it throws ``TaskError`` with code `.truncatedBody`.
  ///   - limit: The most bytes of a line, and of an event's data.
  public func events(until terminator: String? = nil, upTo limit: Int = 1 << 20) -> ServerSentEvents {
    ServerSentEvents(plan, until: terminator, upTo: limit)
  }

  /// The same with the data of each event decoded, from JSON unless another decoder is given.
  public func events<Value: Decodable & Sendable>(
    of type: Value.Type, decoder: any PayloadDecoder = JSONDecoder(), until terminator: String? = nil,
    upTo limit: Int = 1 << 20
  ) -> AsyncThrowingMapSequence<ServerSentEvents, Value> {
    events(until: terminator, upTo: limit).map { try $0.decoded(type, decoder: decoder) }
  }
}
