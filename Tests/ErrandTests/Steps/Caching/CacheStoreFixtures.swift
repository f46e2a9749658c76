import Foundation
import Testing

@testable import Errand

/// A clock that tests advance.
final class TestDates: Sendable {
  private let seconds = Lock(0.0)

  var now: Date { CacheRulesWorld.start + seconds.withLock { $0 } }

  func advance(by interval: Double) { seconds.withLock { $0 += interval } }
}

/// Runs `body` while `file` is locked.
func whileLocked(_ file: URL, _ body: () async throws -> Void) async throws {
  let descriptor = open(file.path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
  defer { close(descriptor) }
  try #require(flock(descriptor, LOCK_EX) == 0)
  try await body()
}

extension CacheKey {
  static func widget(_ id: Int = 7, _ credential: String = "") -> CacheKey {
    CacheKey(url: "https://shop.test/widgets/\(id)", credential: credential)
  }
}

extension StoredResponse {
  /// Creates a response received `seconds` after the start.
  static func made(
    _ headers: HTTPHeaders = [:], selecting: HTTPHeaders = [:], status: HTTPStatus = .ok, after seconds: Double = 0
  ) -> StoredResponse {
    StoredResponse(
      status: status, headers: headers, requestTime: CacheRulesWorld.start + seconds - 1,
      responseTime: CacheRulesWorld.start + seconds, selecting: selecting)
  }
}

extension CacheStore {
  /// Stores a response with a body in chunks.
  func put(_ response: StoredResponse, _ pieces: [Data], for key: CacheKey = .widget()) async throws {
    let writer = try await store(response, for: key)
    for piece in pieces { try await writer.write(piece) }
    try await writer.commit()
  }

  func put(_ text: String, for key: CacheKey = .widget(), after seconds: Double = 0) async throws {
    try await put(.made(["X-Text": text], after: seconds), [Data(text.utf8)], for: key)
  }

  /// Returns the bodies stored for a key, sorted.
  func texts(_ key: CacheKey = .widget()) async throws -> [String] {
    var texts: [String] = []
    for entry in await entries(for: key) {
      texts.append(String(decoding: try await entry.open().collect(), as: UTF8.self))
    }
    return texts.sorted()
  }
}
