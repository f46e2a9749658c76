import Errand
import Foundation
import OpenAPIRuntime

extension Errand.HTTPBody {
  /// The maximum size of a body that is collected before it is sent, so that it can be recorded and compressed: 1 MiB.
  private static let gathered: Int64 = 1 << 20

  /// Returns an operation's body. A small body is collected if its length is known and it can be read repeatedly.
  static func carrying(_ body: OpenAPIRuntime.HTTPBody?) async throws -> Errand.HTTPBody {
    guard let body else { return .empty }
    let length: Int64? = if case .known(let length) = body.length { length } else { nil }
    guard body.iterationBehavior == .multiple else { return .once(body.map { Data($0) }, length: length) }
    guard let length, length <= gathered else { return .stream(length: length) { body.map { Data($0) } } }
    var bytes = Data()
    for try await chunk in body {
      bytes += chunk
      if bytes.count > length { break }
    }
    guard bytes.count == length else {
      throw TaskError(
        .bodyLengthMismatch, "the operation's body does not have the declared \(length) bytes", phase: .preparing,
        wasNotSent: true)
    }
    return .bytes(bytes)
  }
}

extension OpenAPIRuntime.HTTPBody {
  /// Creates a response body that can be read once. Its length is known unless it was compressed.
  convenience init(_ response: Errand.HTTPResponse) {
    let isCompressed = response.headers.contains(.contentEncoding)
    let stated = isCompressed ? nil : response.headers[.contentLength].flatMap { Int64($0) }
    let length = response.status == .notModified ? 0 : stated  // RFC 9110 §8.6: the length is that of a 200
    self.init(response.body, length: length.map { .known($0) } ?? .unknown, iterationBehavior: .single)
  }
}
