#if os(Linux)
  import Errand
  import Foundation
  import Testing

  @testable import Errand

  @Suite(.timeLimit(.minutes(1))) struct TransferInboxTests {
    private struct Broken: Error {}

    private func receive(_ inbox: inout TransferInbox, _ count: Int, of byte: UInt8 = 1) -> Bool {
      [UInt8](repeating: byte, count: count).withUnsafeBytes { inbox.receive($0) }
    }

    private func chunk(_ inbox: inout TransferInbox) throws -> (data: Data?, resumes: Bool) {
      let (step, resumes) = inbox.read()
      switch step {
      case .take(let data): return (data, resumes)
      case .fail(let error): throw error
      case .wait: return (Data(), resumes)
      }
    }

    @Test func `joins small chunks in order`() throws {
      var inbox = TransferInbox()
      for byte in UInt8(1)...3 { #expect(receive(&inbox, 10, of: byte)) }
      #expect(try chunk(&inbox).data == Data([1, 2, 3].flatMap { [UInt8](repeating: $0, count: 10) }))
      #expect(try chunk(&inbox).data == Data(), "there is no more data yet")
    }

    @Test func `yields received data before the end`() throws {
      var inbox = TransferInbox()
      _ = receive(&inbox, 10)
      inbox.finish(.success(TransferTimings()))
      #expect(try chunk(&inbox).data?.count == 10)
      #expect(try chunk(&inbox).data == nil)
    }

    @Test func `yields received data before a failure`() throws {
      var inbox = TransferInbox()
      _ = receive(&inbox, 10)
      inbox.finish(.failure(Broken()))
      #expect(try chunk(&inbox).data?.count == 10)
      #expect(throws: Broken.self) { try chunk(&inbox) }
    }

    @Test func `an abandoned transfer yields no more data`() throws {
      var inbox = TransferInbox()
      _ = receive(&inbox, 10)
      inbox.abandon(CancellationError())
      #expect(throws: CancellationError.self) { try chunk(&inbox) }
    }

    @Test func `reports only the first end of a transfer`() throws {
      var inbox = TransferInbox()
      inbox.finish(.success(TransferTimings()))
      inbox.finish(.failure(Broken()))
      #expect(try chunk(&inbox).data == nil)
    }

    @Test func `accepts data up to the high-water mark`() throws {
      var inbox = TransferInbox()
      var taken = 0
      while receive(&inbox, 16 << 10) { taken += 16 << 10 }
      #expect(taken == TransferInbox.highWater)
    }

    @Test func `resumes the connection once, at the low-water mark`() throws {
      var inbox = TransferInbox()
      var left = 0
      while receive(&inbox, 64 << 10) { left += 64 << 10 }
      var resumptions: [Int] = []
      while left > 0 {
        let (data, resumes) = try chunk(&inbox)
        left -= data?.count ?? 0
        if resumes { resumptions.append(left) }
      }
      #expect(resumptions == [TransferInbox.lowWater])
    }

    @Test func `does not resume a connection that is not paused`() throws {
      var inbox = TransferInbox()
      _ = receive(&inbox, 64 << 10)
      #expect(try chunk(&inbox).resumes == false)
    }

    @Test func `yields a received head even after a failure`() {
      var inbox = TransferInbox()
      #expect(!inbox.isReady(forHead: true))
      inbox.receive(head: [1])
      inbox.finish(.failure(Broken()))
      guard case .take([1]) = inbox.readHead() else {
        return #expect(Bool(false), "the head was received before the failure")
      }
      var empty = TransferInbox()
      empty.finish(.failure(Broken()))
      guard case .fail = empty.readHead() else {
        return #expect(Bool(false), "no head was received before the failure")
      }
    }

    @Test func `returns a finished body of at most one chunk in a single read`() {
      var inbox = TransferInbox()
      let isEarly = inbox.readWhole() != nil
      #expect(!isEarly, "more data may arrive")
      receive("hello", into: &inbox)
      let isUnfinished = inbox.readWhole() != nil
      #expect(!isUnfinished)
      inbox.finish(.success(TransferTimings()))
      let whole = inbox.readWhole()
      #expect(whole == Data("hello".utf8))
      let rest = inbox.readWhole()
      #expect(rest == Data(), "no data is left")
      var failed = TransferInbox()
      receive("hel", into: &failed)
      failed.finish(.failure(CancellationError()))
      let broken = failed.readWhole()
      #expect(broken == nil)
    }

    private func receive(_ text: String, into inbox: inout TransferInbox) {
      let isTaken = Array(text.utf8).withUnsafeBytes { inbox.receive($0) }
      #expect(isTaken)
    }
  }
#endif
