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
        /// The fields after the body.
        var trailers = HTTPHeaders()
      }

      let state: Lock<State>

      init(_ outbox: TransferOutbox) { state = Lock(State(outbox: outbox)) }
    }
  }

  /// The sender's side of a transfer; from any thread.
  extension CurlTransfer {
    /// Starts to read a body that is not in memory; it goes on until the transfer is over.
    func startReading(_ body: HTTPBody) {
      guard let outgoing else { return }
      let reader = Task { [self] in
        do {
          try await body.forEachChunk { [self] in try await put($0) }
          if body.trailers != nil {
            let fields = try await body.trailerFields()
            outgoing.state.withLock { $0.trailers = fields }
          }
          unpauseIf(outgoing.state.withLock { $0.outbox.finish() })
        } catch {
          unpauseIf(outgoing.state.withLock { $0.outbox.fail(TaskError.ofUpload(error)) })
        }
      }
      outgoing.state.withLock { $0.reader = reader }
    }

    private func put(_ piece: Data) async throws {
      guard let outgoing else { return }
      try Task.checkCancellation()
      let (resumes, failure) = outgoing.state.withLock { ($0.outbox.put(piece), $0.outbox.failure) }
      unpauseIf(resumes)
      if let failure { throw failure }
      // The transfer cancels this task when it ends, and resumes it.
      await answer { waiter in
        outgoing.state.withLock { outgoing -> Void? in
          guard outgoing.outbox.isFull, outgoing.outbox.failure == nil else { return () }
          outgoing.pump = waiter
          return nil
        }
      }
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
