#if HAS_URLSESSION && canImport(Darwin)
  import Foundation

  extension URLSessionExchange {
    private static let bufferSize = 512 << 10
    private static let pause = Duration.milliseconds(2)

    /// Returns a stream from which URLSession reads the body.
    ///
    /// URLSession requests another stream when it resends the request, for example after a pooled connection turns out
    /// to be stale. If the request must not be resent, the exchange fails.
    func newBodyStream() -> InputStream? {
      let sendCount = state.withLock { state in
        state.sendCount += 1
        return state.sendCount
      }
      guard sendCount == 1 || (request.options.mayRepeat && request.body.isReplayable) else {
        fail(
          TaskError(
            .connectionLost, "URLSession tried to resend a request that must not be sent twice", phase: .sending))
        return nil
      }
      var reading: InputStream?
      var writing: OutputStream?
      Stream.getBoundStreams(withBufferSize: Self.bufferSize, inputStream: &reading, outputStream: &writing)
      guard let reading, let writing else {
        fail(TaskError(.internal, "could not create a stream for the body: not enough memory", phase: .sending))
        return nil
      }
      feed(writing)
      return reading
    }

    /// Writes the body to one end of the stream pair. If URLSession closes the other end, URLSession reports the error
    /// itself.
    private func feed(_ output: OutputStream) {
      // Safe, because from here on, only the task below uses this end of the pair.
      nonisolated(unsafe) let output = output
      let feed = Task { [weak self, request, clock] in
        output.open()
        defer { output.close() }
        do {
          try await request.body.forEachCountedChunk { try await Self.write($0, to: output, clock) }
        } catch is WritingEnded {
          return
        } catch {
          self?.fail(TaskError.ofUpload(error))
        }
      }
      let old = state.withLock { state -> Task<Void, Never>? in
        if state.inbox.isOver { return feed }
        defer { state.feed = feed }
        return state.feed
      }
      old?.cancel()
    }

    /// Polls for space instead of blocking a thread in the cooperative pool.
    private static func write(_ chunk: Data, to output: OutputStream, _ clock: CallClock) async throws {
      var rest = chunk
      while !rest.isEmpty {
        guard output.streamStatus != .error, output.streamStatus != .closed else { throw WritingEnded() }
        guard output.hasSpaceAvailable else {
          try await clock.sleep(for: pause)
          continue
        }
        let count = rest.withUnsafeBytes { bytes in
          bytes.bindMemory(to: UInt8.self).baseAddress.map { output.write($0, maxLength: bytes.count) } ?? 0
        }
        guard count > 0 else { throw WritingEnded() }
        rest = rest.dropFirst(count)
      }
    }

    /// Thrown if URLSession has closed its end of the pair.
    private struct WritingEnded: Error {}
  }
#endif
