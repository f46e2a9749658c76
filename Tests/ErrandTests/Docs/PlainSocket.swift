#if os(Linux)
  import Errand
  import Foundation
  import Glibc

  /// A socket whose calls block a Dispatch thread. `end()` unblocks them.
  final class PlainSocket: Sendable {
    private let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)

    deinit { close(descriptor) }

    /// Ends reading and writing. The descriptor is closed when the socket is released.
    func end() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Connects to the first IPv4 address of a host.
    func connect(to origin: Origin) async throws {
      try await blocking { descriptor in
        var hints = addrinfo()
        hints.ai_family = AF_INET
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(origin.host, "\(origin.port)", &hints, &list) == 0, let address = list?.pointee else {
          throw TaskError(
            .cannotResolveHost, "\(origin.host) was not found", phase: .connecting, wasNotSent: true)
        }
        defer { freeaddrinfo(list) }
        guard Glibc.connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 else {
          throw TaskError(
            .cannotConnect, "no connection to \(origin): \(String(cString: strerror(errno)))", phase: .connecting,
            wasNotSent: true)
        }
      }
    }

    /// Sends all of `data`.
    func write(_ data: Data) async throws {
      try await blocking { descriptor in
        try data.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in
          var rest = bytes[...]
          while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest)
            let count = send(descriptor, piece.baseAddress, piece.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else { throw TaskError(.connectionLost, "the connection broke", phase: .sending) }
            rest = rest.dropFirst(count)
          }
        }
      }
    }

    /// Returns the next bytes, or empty data at the end.
    func read() async throws -> Data {
      try await blocking { descriptor in
        var bytes = Data(count: 64 << 10)
        let count = bytes.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
        guard count >= 0 else { throw TaskError(.connectionLost, "the connection broke", phase: .awaitingResponse) }
        return bytes.prefix(count)
      }
    }

    private func blocking<Value: Sendable>(_ work: @escaping @Sendable (Int32) throws -> Value) async throws -> Value {
      try await withCheckedThrowingContinuation { [self] continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try work(self.descriptor) }) }
      }
    }
  }
#endif
