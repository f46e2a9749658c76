#if os(Linux)
  import CCurl
  import ErrandFoundation

  extension CurlTransfer {
    /// The body on its way from its reader to the loop.
    final class Outgoing: Sendable {
      struct State {
        var outbox: TransferOutbox
        var pump: Waiter<Void>?
        var reader: Task<Void, Never>?
        /// The number of times that the body was begun again; what an earlier reader still says counts for nothing.
        var readings = 0
        /// Whether a request was written for which the body is read.
        var isWanted = false
        /// The fields after the body.
        var trailers = HTTPHeaders()
      }

      let state: Lock<State>
      /// The body, where it is read as it is sent.
      let source: HTTPBody?

      init(_ outbox: TransferOutbox, of body: HTTPBody) {
        state = Lock(State(outbox: outbox))
        source = body.data == nil && !body.isEmpty ? body : nil
      }
    }
  }

  /// The sender's side of a transfer; from any thread.
  extension CurlTransfer {
    /// Starts to read a body that is not in memory; it goes on until the transfer is over.
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

    /// Waits until the connection stands: a body that can be read once is kept whole for a request that is never sent.
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

    /// The request is about to be written: its body is read if that has waited. On the loop.
    func beginReading() {
      guard let outgoing, let source = outgoing.source, !source.isReplayable else { return }
      let reader = outgoing.state.withLock { outgoing -> Waiter<Void>? in
        guard !outgoing.isWanted else { return nil }
        outgoing.isWanted = true
        return outgoing.pump.take()
      }
      reader?.resume()
    }

    /// Whether the request can be written again from its beginning.
    var isReplayable: Bool { !sendsTrailers && outgoing?.source?.isReplayable ?? true }

    /// Starts to read it again from its beginning; false where it comes once. On the loop.
    func restartReading() -> Bool {
      guard let outgoing, outgoing.source?.isReplayable ?? false else { return false }
      let (pump, reader) = outgoing.state.withLock { outgoing in
        var pump: Waiter<Void>?
        swap(&pump, &outgoing.pump)
        outgoing.outbox.restart()
        outgoing.readings += 1  // at once, or the reader before puts another piece in between
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
      // The transfer cancels this task when it ends or the body is begun again, and resumes it.
      await answer { waiter in
        outgoing.state.withLock { outgoing -> Void? in
          guard outgoing.readings == number, outgoing.outbox.isFull, outgoing.outbox.failure == nil else { return () }
          outgoing.pump = waiter
          return nil
        }
      }
      // Nothing of an earlier reading is counted any more. Else the transfer may be over because all was sent.
      if outgoing.state.withLock({ $0.readings != number }) { throw CancellationError() }
    }

    /// Changes the outbox on behalf of a reader, unless another one took its place.
    private func update(of number: Int, _ change: (inout Outgoing.State) -> Bool) {
      let resumes = outgoing?.state.withLock { $0.readings == number ? change(&$0) : false } ?? false
      unpauseIf(resumes)
    }

    /// Hands the fields after the body to libcurl, once it has ended; false where there is no memory. The handle must not send
    /// another body: see ``release()``.
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
