#if os(Linux)
  import ErrandFoundation

  extension CurlTransfer {
    struct Incoming {
      var inbox = TransferInbox()
      var isConnectionReused = false
      var phases: TransferTimings?
      var waiter: (continuation: Waiter<Void>, forHead: Bool)?
      /// Additional readers. There should be only one reader, but others must not hang.
      var others: [Waiter<Void>] = []

      mutating func takeReaders() -> (
        first: Waiter<Void>?, others: [Waiter<Void>]
      ) {
        guard let waiter, inbox.isReady(forHead: waiter.forHead) else { return (nil, []) }
        defer {
          self.waiter = nil
          others = []
        }
        return (waiter.continuation, others)
      }
    }
  }

  /// The reader's side of a transfer. Can be used from any thread.
  extension CurlTransfer: HTTPBodySource, Cancellable {
    /// Called on the loop.
    func resumeReader() {
      let (first, others) = incoming.withLock { $0.takeReaders() }
      first?.resume()
      for other in others { other.resume() }
    }

    func receivedHead() async throws -> ResponseHead {
      while true {
        switch incoming.withLock({ $0.inbox.readHead() }) {
        case .take(let bytes):
          if let head = ResponseHead(bytes) { return head }
          loop.push(.cancel(self))
          throw TaskError(.badResponse, "the response does not begin with a status line", phase: .awaitingResponse)
        case .fail(let error): throw error
        case .wait: await change(forHead: true)
        }
      }
    }

    func collect(upTo limit: Int) async throws -> Data {
      guard !Task.isCancelled, let whole = incoming.withLock({ $0.inbox.readWhole() }) else {
        return try await collectPieces(upTo: limit)
      }
      guard whole.count <= limit else { throw HTTPBodyLimitError(limit: limit) }
      return whole
    }

    func next() async throws -> Data? {
      while true {
        // Check here, because a reader that never waits would not notice a cancellation.
        guard !Task.isCancelled else {
          cancel()
          throw CancellationError()
        }
        let (step, resumes) = incoming.withLock { $0.inbox.read() }
        if resumes { loop.push(.unpause(self)) }
        switch step {
        case .take(let piece): return piece
        case .fail(let error): throw error
        case .wait: await change(forHead: false)
        }
      }
    }

    func cancel() {
      guard incoming.withLock({ $0.inbox.outcome }) == nil else { return }
      loop.push(.cancel(self))
    }

    /// Whether the connection carried an earlier exchange. Known once the head has arrived.
    var isConnectionReused: Bool { incoming.withLock { $0.isConnectionReused } }

    var phases: TransferTimings? { incoming.withLock { $0.phases } }

    var trailers: HTTPHeaders {
      let lines = incoming.withLock { $0.inbox.trailers }
      return lines.isEmpty ? HTTPHeaders() : ResponseHead.fields(lines)
    }

    var timings: TransferTimings? {
      if case .success(let timings) = incoming.withLock({ $0.inbox.outcome }) { timings } else { nil }
    }

    private func change(forHead: Bool) async {
      await answer { waiter in
        incoming.withLock { incoming -> Void? in
          guard !incoming.inbox.isReady(forHead: forHead) else { return () }
          if incoming.waiter == nil { incoming.waiter = (waiter, forHead) } else { incoming.others.append(waiter) }
          return nil
        }
      } onCancel: {
        loop.push(.cancel(self))
      }
    }
  }
#endif
