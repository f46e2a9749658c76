import Errand
import Foundation

/// A body that reads an `AsyncThrowingStream`, which returns `nil` when its task is cancelled.
final class StreamSource: HTTPBodySource {
  private let stream: AsyncThrowingStream<Data, any Error>

  init(_ stream: AsyncThrowingStream<Data, any Error>) { self.stream = stream }

  func next() async throws -> Data? {
    for try await chunk in stream { return chunk }
    return nil
  }
}
