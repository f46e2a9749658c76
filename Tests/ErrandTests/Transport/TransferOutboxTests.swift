#if os(Linux)
  import Errand
  import Foundation
  import Testing

  @testable import Errand

  @Suite(.timeLimit(.minutes(1))) struct TransferOutboxTests {
    private struct Broken: Error {}

    /// Reads data until the loop has to wait or stop.
    private func drain(_ outbox: inout TransferOutbox, by size: Int = 7) -> (data: Data, last: TransferOutbox.Writing) {
      var buffer = [UInt8](repeating: 0, count: size)
      var data = Data()
      while true {
        let step = buffer.withUnsafeMutableBytes { outbox.take(into: $0) }
        guard case .send(let count) = step else { return (data, step) }
        data.append(contentsOf: buffer[..<count])
      }
    }

    @Test func `sends all in-memory data, regardless of the buffer size`() {
      let body = Data((0..<100).map { UInt8($0) })
      var outbox = TransferOutbox(body[10...])
      #expect(drain(&outbox) == (body[10...], .end))
    }

    @Test func `joins small chunks in linear time`() {
      var outbox = TransferOutbox(statedLength: nil)
      var fills: [Int] = []
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      let time = processorTime {
        for number in 0..<(1 << 18) { _ = outbox.put(Data([UInt8(truncatingIfNeeded: number)])) }
        _ = outbox.finish()
        while case .send(let count) = buffer.withUnsafeMutableBytes({ outbox.take(into: $0) }) {
          fills.append(count)
        }
      }
      #expect(fills.count == 4 && outbox.isDrained)
      #expect(time < .seconds(10), "removing chunks from the front one by one takes minutes")
    }

    @Test func `is drained once data of the declared length has been sent`() {
      var outbox = TransferOutbox(statedLength: 3)
      #expect(outbox.put(Data([1, 2])) == false)
      #expect(drain(&outbox).last == .pause)
      #expect(!outbox.isDrained)
      #expect(outbox.put(Data([3])) == true)
      #expect(!outbox.isDrained)
      #expect(drain(&outbox).data == Data([3]))
      #expect(outbox.isDrained, "the source has not ended yet")
    }

    @Test func `a restart discards old data and ends the pause`() {
      var outbox = TransferOutbox(statedLength: 3)
      _ = outbox.put(Data([1, 2]))
      #expect(drain(&outbox).last == .pause)
      #expect(outbox.rewind() == false, "the data has already been sent")
      outbox.restart()
      #expect(outbox.isUntouched && !outbox.isDrained)
      #expect(outbox.put(Data([7, 8])) == false)
      #expect(outbox.put(Data([9])) == false)
      #expect(outbox.finish() == false)
      #expect(drain(&outbox) == (Data([7, 8, 9]), .end))
      var late = TransferOutbox(statedLength: 1)
      #expect(drain(&late).last == .pause)
      #expect(late.rewind() == true, "no data has been sent yet")
      #expect(late.put(Data([1])) == false)
    }

    @Test func `an empty body ends immediately`() {
      var outbox = TransferOutbox(Data())
      #expect(drain(&outbox).last == .end)
    }

    @Test func `pauses while it is empty and reports when to resume`() {
      var outbox = TransferOutbox(statedLength: nil)
      #expect(drain(&outbox).last == .pause)
      #expect(outbox.put(Data([1])) == true, "the loop was paused")
      #expect(outbox.put(Data([2])) == false, "the loop has already been resumed")
      #expect(drain(&outbox) == (Data([1, 2]), .pause))
      #expect(outbox.finish() == true)
      #expect(drain(&outbox).last == .end)
    }

    @Test func `aborts a stream that is longer than declared before sending the extra bytes`() {
      var outbox = TransferOutbox(statedLength: 3)
      _ = outbox.put(Data([1, 2]))
      _ = outbox.put(Data([3, 4]))
      #expect(drain(&outbox).last == .abort)
      #expect((outbox.failure as? TaskError)?.code == .bodyLengthMismatch)
    }

    @Test func `aborts a stream that is shorter than declared`() {
      var outbox = TransferOutbox(statedLength: 3)
      _ = outbox.put(Data([1, 2]))
      _ = outbox.finish()
      #expect(drain(&outbox).last == .abort)
      #expect(
        (outbox.failure as? TaskError)?.reason
          == "the declared length of the body is 3 bytes, but its file or stream has 2")
    }

    @Test func `a failure wakes a paused loop, and only the first failure is reported`() {
      var outbox = TransferOutbox(statedLength: nil)
      _ = drain(&outbox)
      #expect(outbox.fail(Broken()) == true)
      #expect(outbox.fail(CancellationError()) == false)
      #expect(outbox.failure is Broken)
      #expect(drain(&outbox).last == .abort)
    }

    @Test func `is full at the high-water mark`() {
      var outbox = TransferOutbox(statedLength: nil)
      _ = outbox.put(Data(count: TransferOutbox.highWater - 1))
      #expect(!outbox.isFull)
      _ = outbox.put(Data(count: 1))
      #expect(outbox.isFull)
      _ = drain(&outbox, by: 1 << 16)
      #expect(!outbox.isFull)
    }
  }
#endif
