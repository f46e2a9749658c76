#if os(Linux)
  import CCurl
  import ErrandFoundation

  extension CurlTransfer {
    final class Outgoing: Sendable {
      struct State {
        var outbox: TransferOutbox
        var pump: Waiter<Void>?
        var reader: Task<Void, Never>?
        /// The number of times that the body was restarted. Updates from earlier readers are ignored.
        var readings = 0
        var isWanted = false
        var trailers = HTTPHeaders()
      }

      let state: Lock<State>
      /// The body, if it is read as it is sent.
      let source: HTTPBody?

      init(_ outbox: TransferOutbox, of body: HTTPBody) {
        state = Lock(State(outbox: outbox))
        source = body.data == nil && !body.isEmpty ? body : nil
      }
    }
  }

  /// The sender's side of a transfer. Can be used from any thread.
  extension CurlTransfer {
    /// Starts to read a body that is not in memory. The reader runs until the transfer has ended.
    func startReading() {
      guard let outgoing, let body = outgoing.source else { return }
      let number = outgoing.state.withLock { $0.readings }
      let reader = Task { [self] in
        do {
          if !body.isReplayable { try await sending() }
          try await body.forEachChunk { [self] in try await put($0, of: number) }
          let fields = body.trailers == nil ? HTTPHeaders() : try await body.trailerFields()
          update(of: number) { outgoing in
            outgoing.trailers = fields
            return outgoing.outbox.finish()
          }
        } catch {
          update(of: number) { $0.outbox.fail(TaskError.ofUpload(error)) }
        }
      }
      outgoing.state.withLock { $0.reader = reader }
    }

    /// Waits for the connection, so that a body that can only be read once is not consumed if the request is never
    /// sent.
    private func sending() async throws {
      guard let outgoing else { return }
      await answer { waiter in
        outgoing.state.withLock { outgoing -> Void? in
          guard !outgoing.isWanted, outgoing.outbox.failure == nil else { return () }
          outgoing.pump = waiter
          return nil
        }
      }
      if let failure = outgoing.state.withLock({ $0.outbox.failure }) { throw failure }
    }

    /// Called on the loop before the request is written. Starts to read a body that was waiting for the connection.
    func beginReading() {
      guard let outgoing, let source = outgoing.source, !source.isReplayable else { return }
      let reader = outgoing.state.withLock { outgoing -> Waiter<Void>? in
        guard !outgoing.isWanted else { return nil }
        outgoing.isWanted = true
        return outgoing.pump.take()
      }
      reader?.resume()
    }

    var isReplayable: Bool { !sendsTrailers && outgoing?.source?.isReplayable ?? true }

    /// Starts to read the body again from its beginning, on the loop. Returns `false` if it can only be read once.
    func restartReading() -> Bool {
      guard let outgoing, outgoing.source?.isReplayable ?? false else { return false }
      let (pump, reader) = outgoing.state.withLock { outgoing in
        var pump: Waiter<Void>?
        swap(&pump, &outgoing.pump)
        outgoing.outbox.restart()
        outgoing.readings += 1  // before the previous reader can add another chunk
        outgoing.trailers = HTTPHeaders()
        return (pump, outgoing.reader)
      }
      reader?.cancel()
      startReading()
      pump?.resume()
      return true
    }

    private func put(_ piece: Data, of number: Int) async throws {
      guard let outgoing else { return }
      try Task.checkCancellation()
      update(of: number) { $0.outbox.put(piece) }
      if let failure = outgoing.state.withLock({ $0.outbox.failure }) { throw failure }
      // This task is cancelled and resumed when the transfer ends or restarts the body.
      await answer { waiter in
        outgoing.state.withLock { outgoing -> Void? in
          guard outgoing.readings == number, outgoing.outbox.isFull, outgoing.outbox.failure == nil else { return () }
          outgoing.pump = waiter
          return nil
        }
      }
      // Stop if the body was restarted, but not if the transfer has ended: the entire body may have been sent.
      if outgoing.state.withLock({ $0.readings != number }) { throw CancellationError() }
    }

    /// Updates the outbox for a reader, unless a later reader has replaced that reader.
    private func update(of number: Int, _ change: (inout Outgoing.State) -> Bool) {
      let resumes = outgoing?.state.withLock { $0.readings == number ? change(&$0) : false } ?? false
      unpauseIf(resumes)
    }

    /// Passes the trailer fields to libcurl. Returns `false` if memory runs out. The handle must not send another body.
    /// See ``release()``.
    func appendTrailers(to list: inout UnsafeMutablePointer<ccurl_slist>?) -> Bool {
      sendsLeft = 0
      for field in outgoing?.state.withLock({ $0.trailers }) ?? HTTPHeaders() {
        guard let longer = ccurl_slist_append(list, "\(field.name.rawName): \(field.value)") else { return false }
        list = longer
      }
      return true
    }

    private func unpauseIf(_ isPaused: Bool) {
      if isPaused { loop.push(.unpause(self)) }
    }
  }
#endif
