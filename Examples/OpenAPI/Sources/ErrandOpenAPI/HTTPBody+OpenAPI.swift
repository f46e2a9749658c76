import Errand
import Foundation
import OpenAPIRuntime

extension Errand.HTTPBody {
  /// The largest body that is gathered before it is sent, so that recordings show it and it may be packed: 1 MiB.
  private static let gathered: Int64 = 1 << 20

  /// The body of an operation. One that can be read several times is gathered where it is known to be small.
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
        .bodyLengthMismatch, "the body of the operation has not the \(length) bytes that it states", phase: .preparing,
        isSurelyNotSent: true)
    }
    return .bytes(bytes)
  }
}

extension OpenAPIRuntime.HTTPBody {
  /// The body of a response, to be read once. Its length is known where it comes as it was sent.
  convenience init(_ response: Errand.HTTPResponse) {
    let isPacked = response.headers.contains(.contentEncoding)
    let stated = isPacked ? nil : response.headers[.contentLength].flatMap { Int64($0) }
    let length = response.status == .notModified ? 0 : stated  // RFC 9110 §8.6: what it states is the length of a 200
    self.init(response.body, length: length.map { .known($0) } ?? .unknown, iterationBehavior: .single)
  }
}
