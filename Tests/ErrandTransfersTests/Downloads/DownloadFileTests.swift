import ErrandTesting
import Foundation
import Testing

@testable import Errand
@testable import ErrandTransfers

/// The partial file of a download and its journal.
@Suite(.timeLimit(.minutes(1))) struct DownloadFileTests {
  private let version = DownloadJournal(identity: "i", validator: DownloadValidator([.eTag: #""a""#]), total: 10)

  /// Runs `body` with a file URL in a new folder and a function that lists the files in that folder.
  private func inFolder(_ body: (URL, () throws -> [String]) throws -> Void) async throws {
    try await withFolder { folder in
      try body(folder.appendingPathComponent("file")) {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      }
    }
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  private func part(_ url: URL) -> String { url.deletingLastPathComponent().path + "/.file.errand-part" }

  @Test func `leaves no folders behind if the file can't be created`() async throws {
    try await inFolder { (url, names) throws in
      let folder = url.deletingLastPathComponent()
      let long = String(repeating: "x", count: 300)
      #expect(throws: TaskError.self) { _ = try DownloadFile(for: folder.appendingPathComponent("a/\(long)/file")) }
      #expect(try names().isEmpty)
    }
  }

  @Test func `the next download resumes where the previous download stopped`() async throws {
    try await inFolder { (url, names) throws in
      let first = try DownloadFile(for: url)
      try first.begin(version)
      try first.append(Data("1234".utf8))
      #expect(try names() == [".file.errand-journal", ".file.errand-part"])
      for name in try names() { #expect(try mode(url.deletingLastPathComponent().path + "/" + name) == 0o600) }
      first.close()  // Simulate a killed process: nothing was synchronized.
      let second = try DownloadFile(for: url)
      #expect(second.length == 4 && second.journal?.validator == version.validator && !second.isComplete)
      try second.append(Data("567890".utf8))
      #expect(second.isComplete)
      try second.publish()
      second.close()
      #expect(try String(contentsOf: url, encoding: .utf8) == "1234567890")
      #expect(try names() == ["file"])
    }
  }

  @Test func `starts over without a valid journal`() async throws {
    try await inFolder { (url, _) throws in
      let journal = url.deletingLastPathComponent().path + "/.file.errand-journal"
      for spoil in [Data?.none, Data("{".utf8), Data(#"{"format":2,"identity":"i","synced":0}"#.utf8)] {
        let first = try DownloadFile(for: url)
        try first.begin(version)
        try first.append(Data("1234".utf8))
        first.close()
        unlink(journal)
        if let spoil { try spoil.write(to: URL(fileURLWithPath: journal)) }
        let second = try DownloadFile(for: url)
        #expect(second.length == 0)
        second.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: part(url))).isEmpty)
      }
    }
  }

  @Test func `a journal never includes bytes of another version`() async throws {
    try await inFolder { (url, _) throws in
      let file = try DownloadFile(for: url)
      try file.begin(version)
      try file.append(Data("1234".utf8))
      try file.begin(DownloadJournal(identity: "i", validator: DownloadValidator([.eTag: #""b""#])))
      #expect(file.length == 0)
      file.close()
      let next = try DownloadFile(for: url)
      #expect(next.length == 0 && next.journal?.validator?.text == #""b""#)
    }
  }

  @Test func `locks the file against a second download`() async throws {
    try await inFolder { (url, _) throws in
      let first = try DownloadFile(for: url)
      #expect(throws: TaskError.self) { try DownloadFile(for: url) }
      do {
        _ = try DownloadFile(for: url)
      } catch let error as TaskError {
        #expect(error.code == .transferInUse)
      }
      first.close()
      try DownloadFile(for: url).close()
    }
  }

  @Test func `does not write to a symlink, a hard link or a folder`() async throws {
    try await inFolder { (url, names) throws in
      let victim = url.deletingLastPathComponent().path + "/victim"
      try Data("precious".utf8).write(to: URL(fileURLWithPath: victim))
      #expect(symlink(victim, part(url)) == 0)
      #expect(throws: TaskError.self) { try DownloadFile(for: url) }
      unlink(part(url))
      #expect(link(victim, part(url)) == 0)
      #expect(throws: TaskError.self) { try DownloadFile(for: url) }
      #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
      unlink(part(url))
      #expect(mkdir(part(url), 0o700) == 0)
      #expect(throws: TaskError.self) { try DownloadFile(for: url) }
    }
  }

  @Test func `keeps the permissions of a replaced file and uses the default permissions for a new file`() async throws {
    try await inFolder { (url, _) throws in
      func publish() throws {
        let file = try DownloadFile(for: url)
        try file.begin(version)
        try file.publish()
        file.close()
      }
      let usual = url.deletingLastPathComponent().appendingPathComponent("usual")
      let descriptor = open(usual.path, O_WRONLY | O_CREAT, 0o666)
      close(descriptor)
      try publish()
      #expect(try mode(url.path) == (try mode(usual.path)))
      for wanted in [0o600, 0o640, 0o755] {
        try FileManager.default.setAttributes([.posixPermissions: wanted], ofItemAtPath: url.path)
        try publish()
        #expect(try mode(url.path) == wanted)
      }
    }
  }

  @Test func `keeps the written bytes if the disk is full`() async throws {
    try await inFolder { (url, _) throws in
      let room = Shared(6)
      let disk = DownloadDisk { data, descriptor in
        let fits = room.withLock { room in
          defer { room = max(0, room - data.count) }
          return data.prefix(room)
        }
        guard Descriptor.put(fits, into: descriptor), fits.count == data.count else {
          errno = ENOSPC
          return false
        }
        return true
      }
      let file = try DownloadFile(for: url, on: disk)
      try file.begin(version)
      try file.append(Data("1234".utf8))
      let error = #expect(throws: TaskError.self) { try file.append(Data("5678".utf8)) }
      #expect(error?.code == .fileNotWritable && error?.reason.contains("No space left") == true)
      #expect(error?.reason.contains("the 4 bytes received so far are kept") == true)
      file.close()
      let next = try DownloadFile(for: url)
      #expect(next.length == 4)
      #expect(try String(contentsOfFile: part(url), encoding: .utf8) == "1234")
    }
  }

  @Test(arguments: [221, 255]) func `accepts a file name of maximum length`(length: Int) async throws {
    try await inFolder { (url, names) throws in
      let name = String(repeating: "n", count: length)
      let file = try DownloadFile(for: url.deletingLastPathComponent().appendingPathComponent(name))
      try file.begin(version)
      try file.publish()
      file.close()
      #expect(try names() == [name])
    }
  }

  // MARK: Ranges

  /// Returns ranges of 2, 4 and 4 bytes.
  private func ranges() throws -> DownloadRanges {
    try #require(DownloadRanges(total: 10, head: 2, isThere: false, count: 2, smallest: 1))
  }

  @Test func `resumes each range and completes the file`() async throws {
    try await inFolder { (url, names) throws in
      let first = try DownloadFile(for: url)
      try first.split(version, into: try ranges())
      try first.append(Data("90".utf8), to: 2)
      try first.append(Data("12".utf8), to: 0)
      first.close()  // Simulate a killed process: nothing was synchronized.
      let second = try DownloadFile(for: url)
      #expect(second.present == 4 && second.length == 0 && !second.isComplete)
      #expect(second.ranges?.parts.map(\.next) == [2, 2, 8])
      try second.append(Data("ab".utf8), to: 2)
      try second.append(Data("3456".utf8), to: 1)
      #expect(second.isComplete && second.journal?.ranges?.present == 0)
      second.close()
      let third = try DownloadFile(for: url)
      #expect(third.isComplete && third.length == 10 && third.ranges == nil, "a complete file has no ranges")
      #expect(third.journal?.synced == 10)
      try third.publish()
      third.close()
      #expect(try String(contentsOf: url, encoding: .utf8) == "12345690ab")
      #expect(try names() == ["file"])
    }
  }

  @Test func `after a system crash, ranges keep only synchronized bytes`() async throws {
    try await inFolder { (url, _) throws in
      let first = try DownloadFile(for: url)
      try first.split(version, into: try ranges())
      try first.append(Data("34".utf8), to: 1)
      try first.synchronise()
      try first.append(Data("5".utf8), to: 1)
      first.close()
      let journal = URL(fileURLWithPath: url.deletingLastPathComponent().path + "/.file.errand-journal")
      let text = try String(contentsOf: journal, encoding: .utf8)
      let boot = try #require(BootSession.current)
      try Data(text.replacingOccurrences(of: boot, with: "another").utf8).write(to: journal)
      let second = try DownloadFile(for: url)
      #expect(second.ranges?.parts.map(\.count) == [0, 2, 0])
      try second.append(Data("6".utf8), to: 1)
      second.close()
      let third = try DownloadFile(for: url)
      #expect(third.ranges?.parts.map(\.count) == [0, 3, 0], "the system has not crashed since")
      third.close()
    }
  }

  @Test(arguments: [0, 5, 10, 33, 35]) func `discards ranges if the file has the wrong length`(size: Int)
    async throws
  {
    try await inFolder { (url, _) throws in
      let first = try DownloadFile(for: url)
      try first.split(version, into: try ranges())
      try first.append(Data("90".utf8), to: 2)
      try first.synchronise()
      first.close()
      #expect(truncate(part(url), off_t(size)) == 0)
      let second = try DownloadFile(for: url)
      #expect(second.present == (size == 10 || size == 33 ? 2 : 0))
      #expect(second.present == 2 || second.ranges == nil)
      second.close()
    }
  }

  @Test func `switches from a single stream to ranges and back`() async throws {
    try await inFolder { (url, _) throws in
      let file = try DownloadFile(for: url)
      try file.begin(version)
      try file.append(Data("1234".utf8))
      let rest = try #require(DownloadRanges(total: 10, head: 4, isThere: true, count: 2, smallest: 1))
      let journal = try #require(file.journal)
      try file.split(journal, into: rest)
      try file.append(Data("890".utf8), to: 2)
      #expect(file.present == 7 && file.length == 0)
      try file.begin(version)
      #expect(file.present == 0 && file.ranges == nil && file.journal?.ranges == nil)
      try file.append(Data("abcdefghij".utf8))
      try file.publish()
      file.close()
      #expect(try String(contentsOf: url, encoding: .utf8) == "abcdefghij")
    }
  }

  @Test func `keeps the written bytes of each range if the disk is full`() async throws {
    try await inFolder { (url, _) throws in
      let isFull = Shared(false)
      let disk = DownloadDisk { data, descriptor in
        guard !isFull.withLock({ $0 }) else {
          Descriptor.put(data.prefix(1), into: descriptor)
          errno = ENOSPC
          return false
        }
        return Descriptor.put(data, into: descriptor)
      }
      let file = try DownloadFile(for: url, on: disk)
      try file.split(version, into: try ranges())
      try file.append(Data("34".utf8), to: 1)
      isFull.withLock { $0 = true }
      let error = #expect(throws: TaskError.self) { try file.append(Data("56".utf8), to: 1) }
      #expect(error?.reason.contains("the 2 bytes received so far are kept") == true)
      file.close()
      let next = try DownloadFile(for: url)
      #expect(next.ranges?.parts.map(\.count) == [0, 2, 0])
      next.close()
    }
  }

  // MARK: Disk failures

  @Test(arguments: [true, false]) func `keeps the written bytes if the file can't be extended`(
    isEmpty: Bool
  ) async throws {
    try await inFolder { (url, names) throws in
      let disk = DownloadDisk(stretch: { _, _ in
        errno = EFBIG
        return false
      })
      let file = try DownloadFile(for: url, on: disk)
      try file.begin(version)
      if !isEmpty { try file.append(Data("1234".utf8)) }
      let parts = try #require(
        DownloadRanges(total: 10, head: isEmpty ? 2 : 4, isThere: !isEmpty, count: 2, smallest: 1))
      let journal = try #require(file.journal)
      let error = #expect(throws: TaskError.self) { try file.split(journal, into: parts) }
      #expect(error?.code == .fileNotWritable)
      file.close()
      let next = try DownloadFile(for: url, on: disk)
      #expect(next.length == (isEmpty ? 0 : 4) && next.ranges == nil)
      next.close()
      try DownloadFile.discard(url)
      #expect(try names() == [])
    }
  }

  @Test func `after a failed flush, discards bytes that were not synchronized`() async throws {
    try await inFolder { (url, _) throws in
      let fails = Shared(false)
      let disk = DownloadDisk(flush: { _ in
        errno = EIO
        return fails.withLock { !$0 }
      })
      let stream = try DownloadFile(for: url, on: disk)
      try stream.begin(version)
      try stream.append(Data("12".utf8))
      try stream.synchronise()
      try stream.append(Data("3456789".utf8))
      fails.withLock { $0 = true }
      #expect(throws: TaskError.self) { try stream.synchronise() }
      fails.withLock { $0 = false }
      try stream.synchronise()
      #expect(stream.length == 2)
      try stream.append(Data("34567890".utf8))
      fails.withLock { $0 = true }
      #expect(throws: TaskError.self) { try stream.publish() }
      #expect(stream.length == 2)
      fails.withLock { $0 = false }
      try stream.split(version, into: try ranges())
      try stream.append(Data("34".utf8), to: 1)
      try stream.synchronise()
      try stream.append(Data("56".utf8), to: 1)
      fails.withLock { $0 = true }
      #expect(throws: TaskError.self) { try stream.synchronise() }
      #expect(stream.ranges?.parts.map(\.count) == [0, 2, 0])
      stream.close()
      let next = try DownloadFile(for: url)
      #expect(next.ranges?.parts.map(\.count) == [0, 2, 0])
      next.close()
    }
  }

  @Test func `does not resume from removed bytes, even if they were synchronized`() async throws {
    try await inFolder { (url, _) throws in
      let stream = try DownloadFile(for: url)
      try stream.begin(version)
      try stream.append(Data("1234".utf8))
      try stream.synchronise()
      try stream.takeBack(to: 3)
      stream.close()
      let parts = try DownloadFile(for: url)
      #expect(parts.length == 3)
      try parts.split(version, into: try ranges())
      try parts.append(Data("3456".utf8), to: 1)
      try parts.synchronise()
      try parts.takeBack(1, to: 1)
      #expect(parts.present == 1)
      parts.close()
      let next = try DownloadFile(for: url)
      #expect(next.ranges?.parts.map(\.count) == [0, 1, 0])
      next.close()
    }
  }
}
