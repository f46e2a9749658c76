import ErrandTesting
import Foundation
import Testing

@testable import Errand

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// File permissions of recordings, and files that other programs put in the folder.
@Suite(.timeLimit(.minutes(1))) struct RecordingSafetyTests: RecordingSuite {
  private func mode(_ url: URL) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
  }

  @Test func `folders and files are accessible only to their owner`() async throws {
    try await withFolder { folder in
      let path = folder.appendingPathComponent("a/b")
      let stub = StubServer(.widget)
      try await stub.server.recordTaskPath(to: path)
      _ = try await GetWidget().on(stub.server).download()
      await stub.server.endTaskPathRecording()
      #expect(try mode(path) == 0o700 && mode(path.deletingLastPathComponent()) == 0o700)
      let names = try files(in: path)
      #expect(names.count == 3)
      for name in names { #expect(try mode(path.appendingPathComponent(name)) == 0o600, "\(name)") }
    }
    let made = try await TaskManager().recordTaskPath()
    #expect(
      try mode(made) == 0o700 && made.deletingLastPathComponent().path == FileManager.default.temporaryDirectory.path)
    try FileManager.default.removeItem(at: made)
  }

  @Test func `does not change files outside the folder, even if the index contains their paths`() async throws {
    try await withFolder { folder in
      let victim = folder.appendingPathComponent("victim.txt")
      try Data("mine".utf8).write(to: victim)
      let path = folder.appendingPathComponent("recordings")
      var recordings = RecordingFolder(path)
      try recordings.open()
      _ = try recordings.write([recording(), recording()], .unlimited)
      let index = path.appendingPathComponent("index.json")
      let text = try String(contentsOf: index, encoding: .utf8)
      let good = text.split(separator: "\n").dropFirst().dropLast().joined(separator: "\n")
      let bad = ["../victim.txt", "/etc/x", "0005. a/../../victim.txt", ".lock", "index.json", "0004. x.txt\\u0000"].map
      {
        #"{"attempts":1,"bytes":1,"file":"\#($0)","method":"GET","number":5,"outcome":"failed","seconds":0,"startedAt":"2026-01-01T00:00:00.000Z","task":"A"}"#
      }
      try Data("[\n\(good),\n7,\nnull,\n{},\n\(bad.joined(separator: ",\n"))\n]\n".utf8).write(to: index)
      try Data("evil".utf8).write(to: path.appendingPathComponent(".0005.partial"))
      var next = RecordingFolder(path)
      try next.open()
      _ = try next.write([recording()], RecordingLimits(count: 2))
      #expect(try String(contentsOf: victim, encoding: .utf8) == "mine")
      #expect(try self.index(in: path).map(\.number) == [2, 3])
      #expect(try files(in: path) == [".lock", "0002. GET Widget.txt", "0003. GET Widget.txt", "index.json"])
    }
  }

  @Test(arguments: [".lock", ".index.partial", ".0001.partial", "index.json", "0001. GET Widget.txt"])
  func `does not follow symlinks`(name: String) async throws {
    try await withFolder { folder in
      let victim = folder.appendingPathComponent("victim")
      try Data("mine".utf8).write(to: victim)
      let path = folder.appendingPathComponent("recordings")
      try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(
        at: path.appendingPathComponent(name), withDestinationURL: victim)
      let lines = Shared<[String]>([])
      let stub = StubServer(.widget) { $0.log = LogOutput { line in lines.withLock { $0.append(line) } } }
      _ = try? await stub.server.recordTaskPath(to: path)
      #expect(
        (stub.server.taskPathURL == nil) == (name == ".lock"), "nothing is written to a folder that can't be locked")
      _ = try await GetWidget().on(stub.server).download()
      await stub.server.endTaskPathRecording()
      #expect(try String(contentsOf: victim, encoding: .utf8) == "mine" && lines.withLock { $0 } == [])
    }
  }

  @Test func `does not read an index that is a symlink`() async throws {
    try await withFolder { folder in
      var (first, second) = (
        RecordingFolder(folder.appendingPathComponent("1")), RecordingFolder(folder.appendingPathComponent("2"))
      )
      try first.open()
      _ = try first.write([recording("GET Other")], .unlimited)
      try PrivateFolder.make(second.url)
      try FileManager.default.createSymbolicLink(
        at: second.url.appendingPathComponent("index.json"),
        withDestinationURL: first.url.appendingPathComponent("index.json"))
      try Data("planted".utf8).write(to: second.url.appendingPathComponent("0001. GET Other.txt"))
      try second.open()
      _ = try second.write([recording()], .unlimited)
      #expect(try index(in: second.url).map(\.number) == [2] && index(in: first.url).map(\.number) == [1])
    }
  }

  @Test func `rejects a lock that is not a regular file`() async throws {
    try await withFolder { folder in
      try #require(mkfifo(folder.appendingPathComponent(".lock").path, 0o600) == 0)
      let error = await #expect(throws: TaskError.self) { try await TaskManager().recordTaskPath(to: folder) }
      #expect(error?.code == .fileNotWritable && error?.reason.contains("not a regular file") == true)
    }
  }

  @Test(arguments: [".0001.partial", ".index.partial", "0001. GET Widget.txt", "index.json"], [true, false])
  func `replaces a planted link instead of writing through the link`(
    name: String, isSymbolic: Bool
  ) async throws {
    try await withFolder { folder in
      let victim = folder.appendingPathComponent("victim")
      try Data("mine".utf8).write(to: victim)
      let path = folder.appendingPathComponent("recordings")
      var recordings = RecordingFolder(path)
      try recordings.open()
      let link = path.appendingPathComponent(name)
      try? FileManager.default.removeItem(at: link)  // Only the index exists under one of these names.
      if isSymbolic {
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: victim)
      } else {
        try FileManager.default.linkItem(at: victim, to: link)
      }
      guard case .written = try recordings.write([recording()], .unlimited) else {
        Issue.record("the recording was not written")
        return
      }
      #expect(try String(contentsOf: victim, encoding: .utf8) == "mine")
      // An invalid index is set aside.
      let names = try files(in: path).filter { $0 != "index.json.bad" }
      #expect(names == [".lock", "0001. GET Widget.txt", "index.json"])
      #expect(try index(in: path).map(\.number) == [1])
      for name in try files(in: path) {
        let kind = try FileManager.default.attributesOfItem(atPath: path.appendingPathComponent(name).path)[.type]
        #expect(kind as? FileAttributeType == .typeRegular, "\(name)")
      }
    }
  }

  @Test func `rejects a folder that is world-writable or belongs to another user`() async throws {
    try await withFolder { folder in
      try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
      let error = await #expect(throws: TaskError.self) { try await TaskManager().recordTaskPath(to: folder) }
      #expect(error?.code == .fileNotWritable && error?.reason.contains("writable by everyone") == true)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
      guard geteuid() == 0, chown(folder.path, 12345, 12345) == 0 else { return }  // Only root can change the owner.
      let foreign = await #expect(throws: TaskError.self) { try await TaskManager().recordTaskPath(to: folder) }
      #expect(foreign?.reason.contains("another user") == true)
    }
  }

  @Test func `makes a valid file name from any task name`() async throws {
    try await withFolder { folder in
      let url = folder.appendingPathComponent("recordings")
      var recordings = RecordingFolder(url)
      try recordings.open()
      let long = String(repeating: "é", count: 300)
      _ = try recordings.write([recording("GET \(long)"), recording("../../x GET"), recording()], .unlimited)
      let names = try self.recordings(in: url)
      #expect(names.count == 3 && names.allSatisfy { $0.utf8.count <= 255 })
      #expect(names.contains { $0.hasPrefix("0001. GET éééé") } && names.contains("0002. x GET.txt"))
      #expect(try index(in: url).map(\.file) == names)
      #expect(try files(in: folder) == ["recordings"])
    }
  }

  @Test func `a recording that can't be written does not block other recordings`() async throws {
    try await withFolder { folder in
      var recordings = RecordingFolder(folder)
      try recordings.open()
      let obstacle = folder.appendingPathComponent(".0002.partial/x")
      try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
      guard case .incomplete = try recordings.write((0..<3).map { _ in recording() }, .unlimited) else {
        Issue.record("the second recording was written")
        return
      }
      #expect(try index(in: folder).map(\.number) == [1, 3])
      #expect(try self.recordings(in: folder) == ["0001. GET Widget.txt", "0003. GET Widget.txt"])
    }
  }

  @Test func `does not change another program's files`() async throws {
    try await withFolder { folder in
      let index = folder.appendingPathComponent("index.json")
      try Data(#"{"my":"own"}"#.utf8).write(to: index)
      try Data("thesis".utf8).write(to: folder.appendingPathComponent(".thesis.partial"))
      let error = await #expect(throws: TaskError.self) { try await StubServer().server.recordTaskPath(to: folder) }
      #expect(error?.code == .fileNotWritable)
      #expect(error?.description.contains("index.json already exists") == true)
      #expect(try Data(contentsOf: index) == Data(#"{"my":"own"}"#.utf8))
      try FileManager.default.removeItem(at: index)
      var recordings = RecordingFolder(folder)
      try recordings.open()
      _ = try recordings.write([recording()], .unlimited)
      #expect(try files(in: folder).contains(".thesis.partial"))
    }
  }

  @Test func `sets aside an index that was edited by hand`() async throws {
    try await withFolder { folder in
      let index = folder.appendingPathComponent("index.json")
      try Data("[\n{broken".utf8).write(to: index)
      var recordings = RecordingFolder(folder)
      try recordings.open()
      _ = try recordings.write([recording()], .unlimited)
      #expect(try Data(contentsOf: folder.appendingPathComponent("index.json.bad")) == Data("[\n{broken".utf8))
      #expect(try self.index(in: folder).count == 1)
    }
  }

  @Test func `ignores impossible numbers in other programs' files and entries`() async throws {
    try await withFolder { folder in
      try Data("x".utf8).write(to: folder.appendingPathComponent("9223372036854775807. x.txt"))
      var recordings = RecordingFolder(folder)
      try recordings.open()
      _ = try recordings.write([recording()], .unlimited)
      #expect(try self.index(in: folder).map(\.number) == [1])
      let huge = #"{"attempts":1,"bytes":9223372036854775807,"file":"0001. x.txt","method":"GET","number":1,"#
      let rest = #""outcome":"succeeded","seconds":0,"startedAt":"2026-01-01T00:00:00.000Z","task":"T"}"#
      #expect(RecordingIndex(Data("[\(huge)\(rest)]".utf8)).entries.isEmpty)
    }
  }

  @Test(arguments: ["999999999999", "9999999999999", "999999999999999"])
  func `another program's file with a large number does not cause lost recordings`(number: String) async throws {
    try await withFolder { folder in
      try Data("x".utf8).write(to: folder.appendingPathComponent("\(number). x.txt"))
      for _ in 0..<3 {
        var recordings = RecordingFolder(folder)
        try recordings.open()
        _ = try recordings.write([recording(), recording()], .unlimited)
      }
      #expect(try recordings(in: folder).count == 7)
      let numbers = try index(in: folder).map(\.number)
      #expect(numbers.count == 6 && numbers == numbers.sorted())
    }
  }
}
