import Foundation

extension Call {
  /// A body that was read to its end: its bytes, unless they went elsewhere, and their number.
  struct Collected: Sendable {
    var data = Data()
    var count = 0
  }

  /// Reads a body to its end, where the call wants it.
  @inline(__always)
  func collect(_ response: HTTPResponse) async throws -> Collected {
    switch delivery {
    case .file(let url) where accepts(response.status):
      try verify(response)
      return try await write(response.body, to: url)
    case .discarded where accepts(response.status) && !isShown: return try await drain(response.body)
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

  /// As much as errors keep of the body of a refused response: that it broke off is not what the caller needs to know.
  func excerpt(of body: HTTPResponseBody, upTo limit: Int) async -> Collected {
    var data = Data()
    while data.count < limit, let chunk = try? await body.next() { data.append(chunk.prefix(limit - data.count)) }
    body.cancel()
    return Collected(data: data, count: data.count)
  }

  private func drain(_ body: HTTPResponseBody) async throws -> Collected {
    var collected = Collected()
    while let chunk = try await body.next() { collected.count += chunk.count }
    return collected
  }

  /// Writes a body beside `url` and renames it once it is complete: what was there stays until then, and for good if
  /// anything fails.
  @concurrent private func write(_ body: HTTPResponseBody, to url: URL) async throws -> Collected {
    let partial = url.deletingLastPathComponent().appendingPathComponent(
      ".\(url.lastPathComponent).\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data().write(to: partial)
    } catch {
      throw TaskError(.fileNotWritable, "\(url.path) cannot be written", phase: .finishing, underlying: error)
    }
    var isComplete = false
    defer { if !isComplete { try? FileManager.default.removeItem(at: partial) } }  // the failure itself is thrown
    let handle = try writing(url) { try FileHandle(forWritingTo: partial) }
    var collected = Collected()
    while let chunk = try await body.next() {
      collected.count += chunk.count
      try writing(url) { try handle.write(contentsOf: chunk) }
    }
    try writing(url) {
      try handle.close()
      try checkCancellation()
      try Self.replace(url, with: partial)
    }
    isComplete = true
    return collected
  }

  private func writing<Value>(_ url: URL, _ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      throw TaskError(
        .fileNotWritable, "\(url.path) cannot be written: \(error.localizedDescription)", phase: .finishing,
        underlying: error)
    }
  }

  private static func replace(_ url: URL, with partial: URL) throws {
    guard rename(partial.path, url.path) != 0 else { return }
    throw CocoaError(.fileWriteUnknown)
  }
}
