import ErrandFoundation

#if os(Linux)
  import CCurl

  /// Compresses a body as gzip (RFC 1952), chunk by chunk.
  final class GzipPacker: Sendable {
    private let packer: Lock<OpaquePointer>

    /// Returns `nil` if zlib is not available.
    init?() {
      guard let packer = cpacker_create() else { return nil }
      self.packer = Lock(packer)
    }

    deinit { packer.withLock { cpacker_free($0) } }

    /// Compresses `data` and returns the output that is ready. With `isLast`, returns all remaining output.
    func pack(_ data: Data, isLast: Bool = false) throws -> Data {
      try packer.withLock { try Self.pack(data, isLast, with: $0) }
    }

    private static func pack(_ data: Data, _ isLast: Bool, with packer: OpaquePointer) throws(TaskError) -> Data {
      var compressed = Data()
      var rest = data[...]
      var room = [UInt8](repeating: 0, count: 32 << 10)
      while true {
        var (taken, given) = (0, 0)
        let code = rest.withUnsafeBytes { input in
          room.withUnsafeMutableBytes { output in
            output.baseAddress.map {
              cpacker_run(packer, input.baseAddress, input.count, isLast ? 1 : 0, $0, output.count, &taken, &given)
            }
          }
        }
        guard let code, code != CDECODER_DAMAGED else {
          throw TaskError(.internal, "zlib can't compress the body", phase: .preparing)
        }
        compressed += room[..<given]
        rest = rest.dropFirst(taken)
        if code == CDECODER_ENDED || (!isLast && rest.isEmpty && given < room.count) { return compressed }
      }
    }
  }
#else
  /// zlib can't be loaded at run time on Apple platforms, so bodies are not compressed.
  final class GzipPacker: Sendable {
    init?() { nil }

    func pack(_ data: Data, isLast: Bool = false) throws -> Data { data }
  }
#endif

extension HTTPBody {
  /// Returns this body compressed with gzip. A streamed body is compressed as it is read, and its compressed length is
  /// unknown. Returns `nil` if zlib is not available.
  ///
  /// - Parameter make: Creates the compressor. Tests replace it.
  func gzipped(by make: () -> GzipPacker? = { GzipPacker() }) throws -> HTTPBody? {
    guard let packer = make() else { return nil }
    if let data { return .bytes(try packer.pack(data, isLast: true), type: mediaType) }
    return .composed(
      length: nil, isReplayable: isReplayable, type: mediaType, trailers: trailers, isProduced: isProduced
    ) { [self] sink in
      guard let packer = GzipPacker() else {
        throw TaskError(.internal, "not enough memory to compress the body", phase: .preparing)
      }
      try await forEachCountedChunk { chunk in
        let compressed = try packer.pack(chunk)
        if !compressed.isEmpty { try await sink(compressed) }
      }
      try await sink(packer.pack(Data(), isLast: true))
    }
  }
}
