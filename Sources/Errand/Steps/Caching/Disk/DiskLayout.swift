import ErrandFoundation

/// The format of a ``DiskCache`` file: five 8-byte integers, the header, and the body in frames.
///
///     magic · length of the header · checksum of the header · length of the body · checksum of these four
///     header
///     checksum of the frame · 64 KiB of the body       repeated; the last frame is shorter
///
/// Every frame is verified before it is used. Its checksum includes its number, so frames can't be swapped.
struct DiskLayout: Equatable {
  static let magic = UInt64(0x3143_4544_4E41_5252)  // "RRANDEC1"
  static let size = 40
  static let frameSize = 64 << 10
  static let largestHead = 1 << 20

  let headLength: Int
  let headChecksum: UInt64
  let bodyLength: Int

  init(head: Data, bodyLength: Int) {
    headLength = head.count
    headChecksum = Self.checksum(head, number: .max)
    self.bodyLength = bodyLength
  }

  init?(_ bytes: Data) {
    guard bytes.count >= Self.size, bytes.number(at: 0) == Self.magic,
      bytes.number(at: 32) == Self.checksum(bytes.prefix(32), number: 0),
      let headLength = Int(exactly: bytes.number(at: 8)), let bodyLength = Int(exactly: bytes.number(at: 24)),
      headLength <= Self.largestHead, bodyLength <= Int.max / 2
    else { return nil }
    self.headLength = headLength
    self.bodyLength = bodyLength
    headChecksum = bytes.number(at: 16)
  }

  var bytes: Data {
    var data = Data()
    func add(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) } }
    for number in [Self.magic, UInt64(headLength), headChecksum, UInt64(bodyLength)] { add(number) }
    add(Self.checksum(data, number: 0))
    return data
  }

  func offset(ofFrame number: Int) -> Int { Self.size + headLength + number * (Self.frameSize + 8) }

  var frameCount: Int { (bodyLength + Self.frameSize - 1) / Self.frameSize }

  func length(ofFrame number: Int) -> Int { min(Self.frameSize, bodyLength - number * Self.frameSize) }

  var fileSize: Int { Self.size + headLength + bodyLength + 8 * frameCount }

  func isSound(head: Data) -> Bool { head.count == headLength && Self.checksum(head, number: .max) == headChecksum }

  /// Returns the bytes of a frame without its checksum, or `nil` if the checksum does not match.
  static func checked(_ frame: Data, number: Int) -> Data? {
    guard frame.count >= 8 else { return nil }
    let bytes = Data(frame.dropFirst(8))  // callers expect indices that start at 0
    return frame.number(at: 0) == checksum(bytes, number: UInt64(number)) ? bytes : nil
  }

  static func frame(_ bytes: Data, number: Int) -> Data {
    var frame = Data(capacity: bytes.count + 8)
    withUnsafeBytes(of: checksum(bytes, number: UInt64(number)).littleEndian) { frame.append(contentsOf: $0) }
    frame.append(bytes)
    return frame
  }

  private static func checksum(_ bytes: Data, number: UInt64) -> UInt64 {
    bytes.withUnsafeBytes { Checksum.of($0, seed: number) }
  }
}
