#if os(Linux)
  import CCurl

  extension CurlTransfer {
    /// Whether the request never reached the server, or the server reported that it did not process the request.
    var wasNotSent: Bool { refusals == sendCount }

    /// Records that the server won't process the stream of the last send (RFC 9113 §8.7).
    func refuseStream() {
      if stream != nil, head.isUntouched { refuse() }
    }

    /// Records that the server did not process the last send. The request may then be resent once if its body can be
    /// read again.
    func refuse() {
      guard !isRefused else { return }
      isRefused = true
      refusals += 1
      if !hasStartedAfresh, isReplayable { sendsLeft = max(sendsLeft, 1) }
    }

    /// Prepares to resend the request if the pooled connection was stale or the server refused the request. Returns
    /// `false` if the server may have read the request, which must not be sent twice.
    func startAfresh(after code: Int32) -> Bool {
      guard !hasStartedAfresh, failure == nil, isRejected || isRefused || isStale(code) else { return false }
      if !isRejected, !isRefused, wroteNothing {
        refusals += 1
        sendsLeft += 1
      }
      // If the connection was rejected, no part of the body was read.
      let isWhole = isRejected || outgoing == nil || rewind()
      isRejected = false
      guard sendsLeft > 0, isWhole else { return false }
      hasStartedAfresh = true
      if isRefused { trustsRefusals = false }
      forbidReuse(false)
      // Use a new connection, because the next pooled one may be stale too. For streams, the shared connection is
      // already gone.
      if stream == nil { ccurl_easy_set_long(handle.pointer, CCOPT_FRESH_CONNECT, 1) }
      handle.clearRemark()
      interest = (true, true)
      timers.connectingAgain(at: loop.now)
      rescheduled()
      return true
    }

    private func isStale(_ code: Int32) -> Bool {
      guard sendCount > 0, head.isUntouched, received == 0 else { return false }
      switch code {
      case CCE_GOT_NOTHING, CCE_RECV_ERROR, CCE_SEND_ERROR, CCE_PARTIAL_FILE: break
      default: return false
      }
      if stream != nil, CurlFailure.isTooLarge(handle.remark) { return false }  // a retry would fail in the same way
      return isOnPooledConnection
    }

    /// Whether no bytes of the request were written to the socket. libcurl doesn't count the bytes of streams.
    private var wroteNothing: Bool {
      guard !mayMultiplex else { return false }
      var head = 0
      var body: Int64 = 0
      ccurl_easy_get_long(handle.pointer, CCINFO_REQUEST_SIZE, &head)
      ccurl_easy_get_off(handle.pointer, CCINFO_SIZE_UPLOAD_T, &body)
      return head == 0 && body == 0
    }

    func complete(_ code: Int32) {
      let facts = CurlFacts(handle, sendCount: sendCount, wasNotSent: wasNotSent)
      isMultiplexed = facts.version?.hasStreams ?? false
      // If libcurl didn't resend the request after a 417, the 417 is the response.
      if code == CCE_OK, head.completeAsItIs() { publishHead() }
      if let failure {
        finish(.failure(failure))
      } else if code == CCE_OK, isCutStream {
        finish(
          .failure(
            TaskError(
              .truncatedBody, "the connection closed before the response stream ended, while receiving the body",
              phase: .receiving)
          ))
      } else if code == CCE_OK, head.framing.isAmbiguous, head.framing.contentLength == 0, received == 0, mayHaveBody {
        finish(
          .failure(
            TaskError(
              .badResponse, "the response cannot be read: Content-Length is 0, but Transfer-Encoding is 'chunked'",
              phase: .receiving)))
      } else if code == CCE_OK, mayLackItsEnd {
        finish(.failure(CurlFailure.cutByReset))
      } else if code == CCE_OK, head.isComplete, lacksAlert {
        finish(
          .failure(
            TaskError(
              .truncatedBody,
              "the response may be truncated: it has no Content-Length, and the connection closed without a TLS close alert",
              phase: .receiving)))
      } else if code != CCE_OK, stream != nil, loop.pulse.hasEnded(socket.descriptor) {
        finish(
          .failure(
            TaskError(
              .badResponse, "the server flooded the connection with frames that do not belong to a response",
              phase: timers.phase)))
      } else if code == CCE_OK, head.isComplete {
        finish(.success(timings(facts, handedOn: received)))
      } else {
        finish(
          .failure(
            facts.failure(
              code, phase: timers.phase, hasBegun: !head.isUntouched,
              isShared: hasCompany,
              bodyFailure: outgoing?.state.withLock { $0.outbox.failure },
              authorities: rules.configuration.tls.authorities, socketPath: rules.configuration.unixSocket)))
      }
    }

    func finish(_ outcome: Result<TransferTimings, any Error>) {
      let outcome = outcome.mapError { timed($0) }
      end()
      incoming.withLock { $0.inbox.finish(outcome) }
    }

    func abandon(_ error: any Error) {
      end()
      incoming.withLock { [error = timed(error)] in $0.inbox.abandon(error) }
    }

    /// Runs before the reader is resumed, which may start the next transfer immediately.
    private func end() {
      if !isOver { shard.pool.ended() }
      isOver = true
    }

    /// Returns the handle to the pool and stops reading the request body.
    func release() {
      if hasDroppedExpectation { handle.header = nil }
      if resolveList != nil { ccurl_easy_set_slist(handle.pointer, CCOPT_RESOLVE, nil) }  // libcurl would read it again
      ccurl_slist_free(resolveList)
      resolveList = nil
      let isPristine = self.isPristine
      // libcurl counts restarts in the handle.
      if !isPristine || forbidsReuse || hasStartedAfresh { handle.plain = nil }
      if mayMultiplex { ccurl_easy_set_long(handle.pointer, CCOPT_VERBOSE, 0) }  // it no longer reads messages
      // Don't reuse a handle that remembers a refused stream, a dropped expectation or sent trailers. Such a handle
      // would misread a lost connection, omit the next expectation, or write chunks outside their buffer.
      let mayServe = isPristine || !(mayMultiplex || hasDroppedExpectation)
      if mayServe, !sendsTrailers { shard.pool.giveBack(handle) }
      guard let outgoing else { return }
      let (pump, reader) = outgoing.state.withLock { outgoing in
        var pump: Waiter<Void>?
        swap(&pump, &outgoing.pump)
        _ = outgoing.outbox.fail(CancellationError())
        return (pump, outgoing.reader)
      }
      reader?.cancel()
      pump?.resume()
    }

    // Whether the handle holds no data of this transfer. libcurl may keep data for a paused reader and deliver it to
    // the next reader.
    private var isPristine: Bool {
      sendCount == 1 && pauses == 0 && incoming.withLock { $0.inbox.isWhole }
    }
  }
#endif
