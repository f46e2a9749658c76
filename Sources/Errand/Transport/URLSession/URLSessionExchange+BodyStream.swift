#if HAS_URLSESSION && canImport(Darwin)
  import Foundation

  extension URLSessionExchange {
    private static let bufferSize = 512 << 10
    private static let pause = Duration.milliseconds(2)

    /// A stream from which URLSession reads the body.
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
            .connectionLost, "URLSession tried to send the body a second time, which is not allowed", phase: .sending))
        return nil
      }
      var reading: InputStream?
      var writing: OutputStream?
      Stream.getBoundStreams(withBufferSize: Self.bufferSize, inputStream: &reading, outputStream: &writing)
      guard let reading, let writing else {
        fail(TaskError(.internal, "not enough memory for the body's stream", phase: .sending))
        return nil
      }
      feed(writing)
      return reading
    }

    /// Writes the body to one end of the pair. If URLSession closes the other end, it reports the error itself.
    private func feed(_ output: OutputStream) {
      // Invariant: from here on, only the task below uses this end of the pair.
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

    /// Polls for space instead of blocking a thread of the cooperative pool.
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

    /// URLSession has closed its end.
    private struct WritingEnded: Error {}
  }
#endif
