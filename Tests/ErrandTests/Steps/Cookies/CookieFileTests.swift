import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Cookies stored in a file.
@Suite(.timeLimit(.minutes(1))) struct CookieFileTests {
  private let shop = URL.known("https://shop.test/")

  private func jar(_ file: URL, _ clock: ManualClock = ManualClock()) throws -> CookieJar {
    try CookieJar(file: file, clock: CallClock(clock), log: .discard)
  }

  private func values(_ jar: CookieJar) -> [String] { jar.cookies.map { "\($0.name)=\($0.value)" } }

  private func mode(_ url: URL) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
  }

  @Test func `another process reads all cookies except session cookies`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("a/b/cookies.json")
      let first = try jar(file)
      try first.set("keep=1; Max-Age=3600; Path=/x; Domain=shop.test; Secure; HttpOnly; SameSite=Lax", from: shop)
      try first.set("session=2", from: shop)
      try await first.synchronize()
      let second = try jar(file)
      #expect(values(second) == ["keep=1"] && values(first) == ["keep=1", "session=2"])
      let (mine, theirs) = (try #require(first.cookies.first), try #require(second.cookies.first))
      #expect(
        theirs.description == mine.description && theirs.isHTTPOnly && theirs.sameSite == .lax && !theirs.isHostOnly)
      #expect(abs(theirs.created.timeIntervalSince(mine.created)) < 0.001)
      #expect("\(second)" == "CookieJar(1 cookie, \(file.path))")
    }
  }

  @Test func `a cookie's creation time survives conversion to seconds and back`() throws {
    for _ in 1...100 {
      let jar = CookieJar(clock: CallClock(ManualClock()))
      try jar.set("a=1", from: shop)
      let created = try #require(jar.cookies.first).created
      #expect(Date(timeIntervalSince1970: created.timeIntervalSince1970) == created)
    }
  }

  @Test func `creates the file and its folder with private permissions`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("a/cookies.json")
      let jar = try jar(file)
      try jar.set("a=1; Max-Age=60", from: shop)
      try await jar.synchronize()
      #expect(try mode(file) == 0o600 && mode(file.deletingLastPathComponent()) == 0o700)
      #expect(try files(in: file.deletingLastPathComponent()) == [".cookies.json.lock", "cookies.json"])
    }
  }

  @Test func `removes matching cookies that other processes have written`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("cookies.json")
      let clock = ManualClock()
      let (mine, theirs) = (try jar(file, clock), try jar(file, clock))
      try theirs.set("session=1; Max-Age=60", from: shop)
      try theirs.set("keep=1; Max-Age=60", from: shop)
      try await theirs.synchronize()
      mine.removeAll { $0.name == "session" }
      try mine.set("new=1; Max-Age=60", from: shop)
      try await mine.synchronize()
      let written = try jar(file)
      #expect(Set(values(mine)) == ["keep=1", "new=1"] && Set(values(written)) == ["keep=1", "new=1"])
      mine.removeAll { $0.name == "session" }
      clock.advance(by: .seconds(5))
      try theirs.set("session=2; Max-Age=60", from: shop)
      try theirs.set("other=2; Max-Age=60", from: shop)
      try await theirs.synchronize()
      try await mine.synchronize()
      #expect(values(mine).contains("session=2"), "a cookie set after the removal is kept")
    }
  }

  @Test func `a delayed removal does not delete a cookie that was set again later`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("cookies.json")
      let clock = ManualClock()
      let theirs = try jar(file, clock)
      try theirs.set("session=1; Max-Age=6000", from: shop)
      try await theirs.synchronize()
      let mine = try jar(file, clock)
      clock.advance(by: .seconds(60))
      // Make the file unwritable during the removal.
      let away = folder.appendingPathComponent("away")
      try FileManager.default.moveItem(at: file, to: away)
      try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
      mine.removeAll()
      await #expect(throws: TaskError.self) { try await mine.synchronize() }
      try FileManager.default.removeItem(at: file)
      try FileManager.default.moveItem(at: away, to: file)
      clock.advance(by: .seconds(300))
      try theirs.set("session=2; Max-Age=6000", from: shop)
      try await theirs.synchronize()
      try mine.set("other=1; Max-Age=6000", from: shop)
      try await mine.synchronize()
      #expect(try Set(values(jar(file, clock))) == ["session=2", "other=1"])
    }
  }

  @Test func `a delayed write does not replace a newer cookie`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("cookies.json")
      let clock = ManualClock()
      let (mine, theirs) = (try jar(file, clock), try jar(file, clock))
      try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
      try mine.set("session=1; Max-Age=6000", from: shop)
      await #expect(throws: TaskError.self) { try await mine.synchronize() }
      try FileManager.default.removeItem(at: file)
      clock.advance(by: .seconds(60))
      try theirs.set("session=2; Max-Age=6000", from: shop)
      try await theirs.synchronize()
      try mine.set("other=1; Max-Age=6000", from: shop)
      try await mine.synchronize()
      #expect(try Set(values(jar(file, clock))) == ["session=2", "other=1"])
      #expect(Set(values(mine)) == ["session=2", "other=1"])
    }
  }

  @Test func `removes a cookie whose creation time is in the future`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("cookies.json")
      let late = ManualClock()
      let theirs = try jar(file, late)
      late.advance(by: .seconds(3000))
      try theirs.set("session=1; Max-Age=9000", from: shop)
      try await theirs.synchronize()
      let mine = try jar(file)
      try mine.set("session=; Max-Age=0", from: shop)
      try await mine.synchronize()
      #expect(try values(mine).isEmpty && values(jar(file)).isEmpty)
      try await theirs.synchronize()
      try theirs.set("session=2; Max-Age=9000", from: shop)
      try await theirs.synchronize()
      let other = try jar(file)
      other.removeAll()
      try await other.synchronize()
      #expect(try values(other).isEmpty && values(jar(file)).isEmpty)
    }
  }

  @Test func `applies a large number of pending removals`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("cookies.json")
      let (mine, theirs) = (try jar(file), try jar(file))
      for number in 0..<150 { try theirs.set("c\(number)=1; Max-Age=60", from: .known("https://h\(number).test/")) }
      try await theirs.synchronize()
      let lock = open(folder.appendingPathComponent(".cookies.json.lock").path, O_RDWR | O_CREAT, 0o600)
      #expect(flock(lock, LOCK_EX) == 0)
      for number in 0..<150 { mine.removeAll { $0.name == "c\(number)" } }
      close(lock)
      try await mine.synchronize()
      #expect(try values(jar(file)).isEmpty && values(mine).isEmpty)
    }
  }

  @Test func `an empty file has no cookies`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("cookies.json")
      try Data().write(to: file)
      #expect(try jar(file).cookies.isEmpty)
    }
  }

  @Test func `writes changes automatically`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("cookies.json")
      let first = try jar(file)
      try first.set("a=1; Max-Age=3600", from: shop)
      #expect(await eventually { (try? jar(file).cookies.count) == 1 })
      first.removeAll()
      #expect(await eventually { (try? jar(file).cookies.count) == 0 })
    }
  }

  @Test func `two jars can add and remove cookies in one file without conflicts`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("cookies.json")
      let (first, second) = (try jar(file), try jar(file))
      try first.set("a=1; Max-Age=3600", from: shop)
      try await first.synchronize()
      try second.set("b=2; Max-Age=3600", from: shop)
      try await second.synchronize()
      #expect(values(second).sorted() == ["a=1", "b=2"])
      #expect(values(first) == ["a=1"], "the first jar has not read the file since")
      try first.set("a=; Max-Age=0", from: shop)
      try await first.synchronize()
      #expect(values(first) == ["b=2"])
      try second.set("c=3; Max-Age=3600", from: shop)
      try await second.synchronize()
      #expect(values(second).sorted() == ["b=2", "c=3"], "the first jar removed the cookie a")
      #expect(try values(jar(file)).sorted() == ["b=2", "c=3"])
    }
  }

  @Test func `removes a cookie that the jar has never read`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("cookies.json")
      let (first, second) = (try jar(file), try jar(file))
      try first.set("a=1; Max-Age=3600", from: shop)
      try await first.synchronize()
      try second.set("a=; Max-Age=0", from: shop)
      try await second.synchronize()
      #expect(try values(jar(file)) == [])
    }
  }

  @Test func `applies a removal once the file is writable, even to another process's cookies`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("cookies.json")
      let (mine, theirs) = (try jar(file), try jar(file))
      try theirs.set("a=1; Max-Age=3600", from: shop)
      try await theirs.synchronize()
      // Make the file unwritable during the removal.
      let away = folder.appendingPathComponent("away")
      try FileManager.default.moveItem(at: file, to: away)
      try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
      mine.removeAll()
      await #expect(throws: TaskError.self) { try await mine.synchronize() }
      try FileManager.default.removeItem(at: file)
      try FileManager.default.moveItem(at: away, to: file)
      try await mine.synchronize()
      #expect(try values(jar(file)) == [])
    }
  }

  @Test func `neither reads nor keeps expired cookies`() async throws {
    try await withFolder { folder in
      let (file, clock) = (folder.appendingPathComponent("cookies.json"), ManualClock())
      let first = try jar(file, clock)
      try first.set("a=1; Max-Age=60", from: shop)
      try first.set("b=2; Max-Age=7200", from: shop)
      try await first.synchronize()
      let later = ManualClock()
      let second = try CookieJar(file: file, clock: CallClock(later), log: .discard)
      later.advance(by: .seconds(3600))
      #expect(values(second) == ["b=2"])
      try await second.synchronize()
      #expect(try !String(contentsOf: file, encoding: .utf8).contains("\"a\""))
    }
  }

  @Test func `ignores and removes a temporary file left by a crash`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("cookies.json")
      let first = try jar(file)
      try first.set("a=1; Max-Age=3600", from: shop)
      try await first.synchronize()
      // Simulate a process that was killed while writing.
      let torn = folder.appendingPathComponent(".cookies.json.new")
      try Data(contentsOf: file).prefix(40).write(to: torn)
      let second = try jar(file)
      #expect(values(second) == ["a=1"])
      try second.set("b=2; Max-Age=3600", from: shop)
      try await second.synchronize()
      #expect(try values(jar(file)) == ["a=1", "b=2"])
      #expect(!FileManager.default.fileExists(atPath: torn.path))
    }
  }

  @Test func `rejects a file that is not a cookie file and leaves it unchanged`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("cookies.json")
      for text in ["{", "[]", #"{"version":2,"cookies":[]}"#, "# Netscape HTTP Cookie File"] {
        try Data(text.utf8).write(to: file)
        let error = #expect(throws: TaskError.self) { _ = try jar(file) }
        #expect(error?.code == .fileNotWritable)
        #expect(
          error?.reason
            == "can't store cookies in \(file.path): it contains something other than cookies: move it elsewhere")
        #expect(try String(contentsOf: file, encoding: .utf8) == text)
      }
    }
  }

  @Test func `rejects a world-writable folder and does not follow a symbolic link`() async throws {
    try await withFolder { folder in
      let (file, victim) = (folder.appendingPathComponent("cookies.json"), folder.appendingPathComponent("victim"))
      try Data(#"{"version":1,"cookies":[]}"#.utf8).write(to: victim)
      try FileManager.default.createSymbolicLink(at: file, withDestinationURL: victim)
      #expect(throws: TaskError.self) { _ = try jar(file) }
      let open = folder.appendingPathComponent("open")
      try FileManager.default.createDirectory(at: open, withIntermediateDirectories: false)
      try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: open.path)
      let error = #expect(throws: TaskError.self) { _ = try jar(open.appendingPathComponent("cookies.json")) }
      #expect(error?.reason.contains("is writable by everyone") == true)
    }
  }

  @Test func `skips a stored cookie that is invalid in a header`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("cookies.json")
      let first = try jar(file)
      try first.set("a=VALUE; Max-Age=3600", from: shop)
      try first.set("b=2; Max-Age=3600", from: shop)
      try await first.synchronize()
      let text = try String(contentsOf: file, encoding: .utf8)
      try Data(text.replacingOccurrences(of: "VALUE", with: "1\\r\\nX-Evil: 1").utf8).write(to: file)
      #expect(try values(jar(file)) == ["b=2"])
    }
  }

  @Test func `logs a write failure once and retries writing the cookies later`() async throws {
    try await withFolder { folder in
      let log = Shared<[String]>([])
      let place = folder.appendingPathComponent("place")
      let file = place.appendingPathComponent("cookies.json")
      let jar = try CookieJar(file: file, log: LogOutput { line in log.withLock { $0.append(line) } })
      try FileManager.default.removeItem(at: place)
      try Data().write(to: place)  // a file instead of the folder
      for number in 0..<3 {
        try jar.set("c\(number)=1; Max-Age=3600", from: shop)
        await #expect(throws: TaskError.self) { try await jar.synchronize() }
      }
      #expect(await eventually { log.withLock { $0.count } == 1 })
      #expect(log.withLock { $0 }.first?.hasPrefix("can't store cookies in \(file.path): ") == true)
      try FileManager.default.removeItem(at: place)
      try await jar.synchronize()
      #expect(try values(self.jar(file)) == ["c0=1", "c1=1", "c2=1"])
    }
  }
}
