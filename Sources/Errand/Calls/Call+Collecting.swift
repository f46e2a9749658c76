import Foundation

extension Call {
  /// A body that was read to its end: its bytes, unless they went elsewhere, and their number.
  struct Collected: Sendable {
    var data = Data()
    var count = 0
    /// The bytes that an echo and a recording show of a body that is not kept.
    var shown: Data?
  }

  /// Reads a body to its end, where the call wants it.
  @inline(__always)
  func collect(_ response: HTTPResponse) async throws -> Collected {
    switch delivery {
    case .file(let url) where isSuccess(response.status) && isWhole(response):
      try verify(response)
      let collected = try await write(response.body, to: url)
      noteStored(response.body)
      return collected
    case .file: return await excerpt(of: response.body, upTo: snapshot.configuration.maximumErrorBodySize)
    case .discarded where accepts(response.status): return try await drain(response.body)
    default: return try await collectInMemory(response)
    }
  }

  @inline(__always)
  private func collectInMemory(_ response: HTTPResponse) async throws -> Collected {
    let isAccepted = accepts(response.status)
    if isAccepted {
      let limit = snapshot.configuration.maximumBodySize
      do {
        let data = try await response.body.collect(upTo: limit)
        return Collected(data: data, count: data.count)
      } catch is HTTPBodyLimitError {
        throw TaskError(
          .bodyTooLarge,
          "the body is larger than the \(limit) bytes of maximumBodySize: download it to a file, or stream it",
          phase: .receiving)
      }
    }
    return await excerpt(of: response.body, upTo: snapshot.configuration.maximumErrorBodySize)
  }

  /// As much of a refused response's body as errors keep; that it broke off is not what the caller needs to know.
  func excerpt(of body: HTTPResponseBody, upTo limit: Int) async -> Collected {
    // A body that goes to a file or a reader has no time limit as a whole; an excerpt goes to neither.
    if !delivery.isInMemory, body.inMemory == nil { return await excerptInTime(of: body, upTo: limit) }
    var data = Data()
    while data.count < limit, let chunk = try? await body.next() { data.append(chunk.prefix(limit - data.count)) }
    body.cancel()
    return Collected(data: data, count: data.count)
  }

  /// As much of a body as comes within the idle time limit.
  private func excerptInTime(of body: HTTPResponseBody, upTo limit: Int) async -> Collected {
    let data = Lock(Data())
    try? await manager.clock.limiting(streamTimeouts.idle, .idle, phase: .receiving) {  // what came until then will do
      while let left = Optional(limit - data.withLock { $0.count }), left > 0, let chunk = try await body.next() {
        data.withLock { $0.append(chunk.prefix(left)) }
      }
    }
    body.cancel()
    let excerpt = data.withLock { $0 }
    return Collected(data: excerpt, count: excerpt.count)
  }

  /// Reads and drops a body. Where it is to be shown, it is kept up to the size that is shown, and no further.
  private func drain(_ body: HTTPResponseBody) async throws -> Collected {
    var collected = Collected(shown: isShown ? Data() : nil)
    while let chunk = try await body.next() {
      collected.count += chunk.count
      guard isShown else { continue }
      let fits = collected.count <= snapshot.configuration.maxLoggedDownloadSize
      if fits { collected.shown?.append(chunk) } else { collected.shown = Data() }
    }
    return collected
  }

  /// Writes a body beside `url` and renames it once it is complete: what was there stays until then, and for good if
  /// anything fails.
  @concurrent func write(_ body: HTTPResponseBody, to url: URL) async throws -> Collected {
    let file = try PartialFile(for: url)
    var collected = Collected()
    do {
      while let chunk = try await body.next() {
        collected.count += chunk.count
        try file.write(chunk)
      }
      try checkCancellation()
    } catch {
      file.discard()
      throw error
    }
    try file.publish()
    return collected
  }
}
