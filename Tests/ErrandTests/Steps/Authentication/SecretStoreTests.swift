import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct SecretStoreTests {
  /// Returns the files in a folder, without the lock file.
  private func secrets(in folder: URL) throws -> [String] { try files(in: folder).filter { $0 != ".lock" } }

  private func mode(_ url: URL) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
  }

  @Test func `stores, replaces and removes secrets by name`() async throws {
    try await withFolder { folder in
      let stores: [any SecretStore] = [
        MemorySecretStore(), FileSecretStore(folder: folder.appendingPathComponent("a/b")),
      ]
      for store in stores {
        #expect(try await store.secret(named: "../x") == nil)
        try await store.setSecret(nil, named: "../x")
        try await store.setSecret(Data("1".utf8), named: "../x")
        try await store.setSecret(Data("2".utf8), named: "y/\0\n")
        try await store.setSecret(Data("3".utf8), named: "../x")
        #expect(try await store.secret(named: "../x") == Data("3".utf8))
        #expect(try await store.secret(named: "y/\0\n") == Data("2".utf8))
        try await store.setSecret(nil, named: "../x")
        #expect(try await store.secret(named: "../x") == nil)
      }
    }
  }

  @Test func `does not remove a secret while another process holds the lock`() async throws {
    try await withFolder { folder in
      let store = FileSecretStore(folder: folder)
      try await store.setSecret(Data("s".utf8), named: "n")
      try await whileLocked(folder.appendingPathComponent(".lock")) {
        let error = await #expect(throws: TaskError.self) { try await store.setSecret(nil, named: "n") }
        #expect(error?.code == .fileNotWritable && error?.reason.contains("another process holds its lock") == true)
      }
      #expect(try await store.secret(named: "n") == Data("s".utf8))
    }
  }

  @Test func `creates files with mode 0600 in a 0700 folder and leaves no other files`() async throws {
    try await withFolder { root in
      let folder = root.appendingPathComponent("secrets")
      let store = FileSecretStore(folder: folder)
      for _ in 0..<3 { try await store.setSecret(Data("s".utf8), named: "n") }
      let names = try secrets(in: folder)
      #expect(names.count == 1 && !names[0].contains("n "))
      #expect(try mode(folder) == 0o700 && mode(folder.appendingPathComponent(names[0])) == 0o600)
    }
  }

  @Test func `rejects a world-writable folder and does not follow a symbolic link`() async throws {
    try await withFolder { root in
      let open = root.appendingPathComponent("open")
      try FileManager.default.createDirectory(at: open, withIntermediateDirectories: true)
      try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: open.path)
      let store = FileSecretStore(folder: open)
      let error = await taskError { try await store.setSecret(Data("s".utf8), named: "n") }
      #expect(error?.code == .fileNotWritable && error?.reason.contains("chmod it to 700") == true)
      #expect(await taskError { _ = try await store.secret(named: "n") }?.code == .authenticationFailed)

      let folder = root.appendingPathComponent("mine")
      let mine = FileSecretStore(folder: folder)
      try await mine.setSecret(Data("s".utf8), named: "n")
      let file = folder.appendingPathComponent(try secrets(in: folder)[0])
      let target = root.appendingPathComponent("target")
      try Data("planted".utf8).write(to: target)
      try FileManager.default.removeItem(at: file)
      try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
      await #expect(throws: TaskError.self) { try await mine.secret(named: "n") }
      try await mine.setSecret(Data("new".utf8), named: "n")
      #expect(try Data(contentsOf: target) == Data("planted".utf8), "the link is replaced instead of followed")
      #expect(try await mine.secret(named: "n") == Data("new".utf8))
    }
  }

  @Test(arguments: [0o775, 0o750, 0o705]) func `makes a folder private if other users can read it`(permissions: Int)
    async throws
  {
    try await withFolder { root in
      let folder = root.appendingPathComponent("secrets")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: folder.path)
      let store = FileSecretStore(folder: folder)
      #expect(try await store.secret(named: "n") == nil)
      try await store.setSecret(Data("s".utf8), named: "n")
      #expect(try mode(folder) == 0o700)
      #expect(try await store.secret(named: "n") == Data("s".utf8))
    }
  }

  @Test func `a concurrent reader always sees a complete secret`() async throws {
    try await withFolder { root in
      let folder = root.appendingPathComponent("secrets")
      let whole = (0..<4).map { Data(repeating: UInt8($0), count: 40_000) }
      try await FileSecretStore(folder: folder).setSecret(whole[0], named: "n")
      try await withThrowingTaskGroup { group in
        for secret in whole {
          group.addTask {
            for _ in 0..<25 { try await FileSecretStore(folder: folder).setSecret(secret, named: "n") }
          }
        }
        group.addTask {
          for _ in 0..<100 {
            let seen = try await FileSecretStore(folder: folder).secret(named: "n")
            #expect(seen.map { whole.contains($0) } == true)
          }
        }
        try await group.waitForAll()
      }
      #expect(try secrets(in: folder).count == 1)
    }
  }

  @Test func `the next write or removal deletes a temporary file left by a crash`() async throws {
    try await withFolder { root in
      let folder = root.appendingPathComponent("secrets")
      let store = FileSecretStore(folder: folder)
      try await store.setSecret(Data("1".utf8), named: "n")
      let name = try #require(try secrets(in: folder).first)
      let left = folder.appendingPathComponent(".\(name).new")
      for secret in [Data("2".utf8), nil] {
        try Data("half".utf8).write(to: left)
        try await store.setSecret(secret, named: "n")
        #expect(try secrets(in: folder) == (secret == nil ? [] : [name]))
        #expect(try await store.secret(named: "n") == secret)
      }
    }
  }
}
