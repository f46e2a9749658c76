#if HAS_URLSESSION && canImport(Darwin)
  import Foundation

  extension URLSessionExchange {
    private static let bufferSize = 512 << 10
    private static let pause = Duration.milliseconds(2)

    /// A stream for URLSession to read the body from, and a task that fills it.
    ///
    /// The first one is for the request. URLSession asks for another when it sends the request again, on a dead pooled
    /// connection say: it gets one only where the request may be repeated, else the exchange ends.
    func newBodyStream() -> InputStream? {
      let sendCount = state.withLock { state in
        state.sendCount += 1
        return state.sendCount
      }
      guard sendCount == 1 || (request.options.mayRepeat && request.body.isReplayable) else {
        fail(
          TaskError(
            .connectionLost, "URLSession would have sent the body a second time, which it may not", phase: .sending))
        return nil
      }
      var reading: InputStream?
      var writing: OutputStream?
      Stream.getBoundStreams(withBufferSize: Self.bufferSize, inputStream: &reading, outputStream: &writing)
      guard let reading, let writing else {
        fail(TaskError(.internal, "there is no memory for the body's stream", phase: .sending))
        return nil
      }
      feed(writing)
      return reading
    }

    /// Writes the body into one end of the pair; a reader that gave up on the other end reports it itself.
    private func feed(_ output: OutputStream) {
      // Invariant: from here on only the task below touches this end of the pair.
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

    /// Asks for room rather than block a thread of the pool until there is some.
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

    /// The reader has gone.
    private struct WritingEnded: Error {}
  }
#endif
