import ErrandFoundation

/// A body's encoded bytes, split into parts of limited size.
struct MockPieces: Sequence, IteratorProtocol {
  enum Framing { case none, chunks, endlessChunks }

  private let parts: [Data]
  private let limit: Int
  private let framing: Framing
  private var index = 0
  private var offset = 0
  private var isLastChunkSent = false

  init(_ parts: [Data], limit: Int, framing: Framing = .none) {
    self.parts = parts.filter { !$0.isEmpty }
    self.limit = limit
    self.framing = framing
  }

  mutating func next() -> Data? {
    guard index < parts.count else { return lastChunk() }
    let part = parts[index]
    let piece = part.dropFirst(offset).prefix(limit)
    offset += piece.count
    if offset == part.count {
      offset = 0
      if framing != .endlessChunks { index += 1 }
    }
    return framing == .none ? piece : Data("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Data("\r\n".utf8)
  }

  private mutating func lastChunk() -> Data? {
    guard framing != .none, !isLastChunkSent else { return nil }
    isLastChunkSent = true
    return Data("0\r\n\r\n".utf8)
  }
}
