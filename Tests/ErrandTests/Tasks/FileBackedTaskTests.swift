import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Tasks that store their body in a file, and tasks with a preloaded file.
@Suite(.timeLimit(.minutes(1))) struct FileBackedTaskTests {
  private struct Catalogue: FileBackedTask {
    let path = "catalogue"
    let file: URL
  }

  /// Creates a shop whose response body and entity tag are the version.
  private func shop(_ version: Shared<Int>, cache: Bool = false) -> CachedShop {
    CachedShop(
      configure: { if !cache { $0.cache = nil } },
      answer: { _, request in
        let tag = "\"\(version.withLock { $0 })\""
        if version.withLock({ $0 }) < 0 { throw TaskError(.offline, "no network", phase: .connecting) }
        if request.headers[.ifNoneMatch] == tag { return .status(.notModified, headers: [.eTag: tag], for: request) }
        return .text("version \(tag)", [.eTag: tag, .cacheControl: "max-age=60"], for: request)
      })
  }

  private func text(_ file: URL) throws -> String { try String(contentsOf: file, encoding: .utf8) }

  @Test(arguments: [true, false]) func `keeps an unchanged file and reports isUnchanged`(cache: Bool) async throws {
    try await withFolder { folder in
      let (version, file) = (Shared(1), folder.appendingPathComponent("catalogue"))
      let shop = shop(version, cache: cache)
      let task = Catalogue(file: file).on(shop.server)
      let first = try await task.download(to: file, when: .changed)
      #expect(try text(file) == "version \"1\"" && !first.isUnchanged && first.status == .ok)
      let written = try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int
      let second = try await task.download(to: file, when: .changed)
      #expect(second.isUnchanged && second.payload == file)
      #expect(try text(file) == "version \"1\"")
      #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int == written)
      #expect(shop.sentCount == (cache ? 1 : 2), "a cache answers without sending a request")
      version.withLock { $0 = 2 }
      shop.clock.advance(by: .seconds(61))
      #expect(try await !task.download(to: file, when: .changed).isUnchanged)
      #expect(try text(file) == "version \"2\"")
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give away a file"))
  func `ignores another user's version file, even if that user owns the download too`() async throws {
    try await withFolder { folder in
      let (version, file) = (Shared(1), folder.appendingPathComponent("catalogue"))
      let task = Catalogue(file: file).on(shop(version).server)
      try await task.download(to: file, when: .changed)
      let name = try #require(try files(in: folder).first { $0.hasSuffix(".version") })
      let note = folder.appendingPathComponent(name).path
      try #require(chown(note, 12345, 12345) == 0 && chown(file.path, 12345, 12345) == 0)
      #expect(
        try await !task.download(to: file, when: .changed).isUnchanged, "another user may have planted both files")
    }
  }

  @Test func `does not read or block on a FIFO or symbolic link that replaced the version file`() async throws {
    try await withFolder { folder in
      let (version, file) = (Shared(1), folder.appendingPathComponent("catalogue"))
      let task = Catalogue(file: file).on(shop(version).server)
      try await task.download(to: file, when: .changed)
      let name = try #require(try files(in: folder).first { $0.hasSuffix(".version") })
      let note = folder.appendingPathComponent(name).path
      unlink(note)
      try #require(mkfifo(note, 0o600) == 0)
      #expect(try await !task.download(to: file, when: .changed).isUnchanged)
      #expect(try await task.download(to: file, when: .changed).isUnchanged, "a version file has replaced the FIFO")
      let elsewhere = folder.appendingPathComponent("elsewhere").path
      try #require(rename(note, elsewhere) == 0 && symlink(elsewhere, note) == 0)
      #expect(try await !task.download(to: file, when: .changed).isUnchanged)
    }
  }

  @Test func `downloads a file again if it was changed, removed or downloaded from another URL`() async throws {
    try await withFolder { folder in
      let (version, file) = (Shared(1), folder.appendingPathComponent("catalogue"))
      let shop = shop(version)
      let task = Catalogue(file: file).on(shop.server)
      try await task.download(to: file, when: .changed)
      try Data("changed by hand".utf8).write(to: file)
      #expect(try await !task.download(to: file, when: .changed).isUnchanged)
      #expect(try text(file) == "version \"1\"")
      try FileManager.default.removeItem(at: file)
      #expect(try await !task.download(to: file, when: .changed).isUnchanged)
      #expect(try await !task.query("a", "1").download(to: file, when: .changed).isUnchanged)
      #expect(try await task.query("a", "1").download(to: file, when: .changed).isUnchanged)
      #expect(try await !task.download(to: file).isUnchanged, "a download without .changed is never unchanged")
    }
  }

  // RFC 9111 §4.1.
  @Test func `downloads a file again if a field named by Vary changes`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("catalogue")
      let date = "Mon, 01 Jan 2024 00:00:00 GMT"
      let shop = CachedShop(configure: { $0.cache = nil }) { _, request in
        let headers: HTTPHeaders = [.lastModified: date, .vary: "accept-language, Cookie"]
        if request.headers[.ifModifiedSince] == date { return .status(.notModified, headers: headers, for: request) }
        return .text("in \(request.headers["Accept-Language"] ?? "none")", headers, for: request)
      }
      for (language, isUnchanged) in [
        ("de", false), ("de", true), ("en", false), ("en", true), (nil, false), (nil, true), ("de", false),
      ] as [(String?, Bool)] {
        var task = Catalogue(file: file).on(shop.server)
        if let language { task = task.header("Accept-Language", language) }
        let answer = try await task.download(to: file, when: .changed)
        #expect(answer.isUnchanged == isUnchanged)
        #expect(try text(file) == "in \(language ?? "none")")
      }
      // The file is shared by all accounts, and no credential is stored with it.
      let task = Catalogue(file: file).on(shop.server).header("Accept-Language", "de").header(.cookie, "a=1")
      #expect(try await task.download(to: file, when: .changed).isUnchanged)
    }
  }

  @Test func `downloads a file with Vary * every time`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("catalogue")
      let shop = CachedShop(configure: { $0.cache = nil }) { _, request in
        .text("a", [.eTag: "\"1\"", .vary: "*"], for: request)
      }
      let task = Catalogue(file: file).on(shop.server)
      for _ in 1...2 {
        let answer = try await task.download(to: file, when: .changed)
        #expect(!answer.isUnchanged)
      }
      #expect(shop.requests.allSatisfy { !$0.headers.contains(.ifNoneMatch) })
    }
  }

  @Test(arguments: ["abc", "W/abc", "\"abc"]) func `sends a malformed entity tag back unchanged`(tag: String)
    async throws
  {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("catalogue")
      let shop = CachedShop(configure: { $0.cache = nil }) { _, request in
        request.headers[.ifNoneMatch] == tag
          ? .status(.notModified, for: request) : .text("a", [.eTag: tag], for: request)
      }
      let task = Catalogue(file: file).on(shop.server)
      try await task.download(to: file, when: .changed)
      #expect(try await task.download(to: file, when: .changed).isUnchanged)
    }
  }

  @Test func `ignores validators that would make the request too large`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("catalogue")
      let long = String(repeating: "e", count: 30_000)
      let shop = CachedShop(configure: { $0.cache = nil }) { _, request in
        .text("a", [.eTag: "\"\(long)\"", .lastModified: long], for: request)
      }
      let task = Catalogue(file: file).on(shop.server)
      for _ in 1...2 {
        let answer = try await task.download(to: file, when: .changed)
        #expect(!answer.isUnchanged)
      }
      #expect(shop.requests.allSatisfy { !$0.headers.contains(.ifNoneMatch) && !$0.headers.contains(.ifModifiedSince) })
    }
  }

  @Test func `the version file does not contain a plain hash of a URL with a password`() async throws {
    try await withFolder { folder in
      let (version, file) = (Shared(1), folder.appendingPathComponent("catalogue"))
      let address = "https://ann:hunter2@shop.test/catalogue"
      let task = URLTask(.known(address)).on(shop(version).server)
      try await task.download(to: file, when: .changed)
      let hidden = try #require(try files(in: folder).first { $0.hasPrefix(".") })
      #expect(try !text(folder.appendingPathComponent(hidden)).contains(SHA256.hexadecimal(of: address)))
      #expect(try await task.download(to: file, when: .changed).isUnchanged)
    }
  }

  @Test func `a 304 after a redirect does not validate the file`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("catalogue")
      let shop = CachedShop(configure: { $0.cache = nil }) { number, request in
        switch number {
        case 1: .text("old", [.eTag: "\"1\""], for: request)
        case 2: .status(302, headers: [.location: "/other"], for: request)
        default: .status(.notModified, for: request)
        }
      }
      let task = Catalogue(file: file).on(shop.server)
      try await task.download(to: file, when: .changed)
      let error = await taskError { try await task.download(to: file, when: .changed) }
      #expect(error?.status == .notModified && shop.sentCount == 3)
    }
  }

  @Test func `the version file is private and does not contain the URL`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("catalogue")
      let shop = shop(Shared(1))
      try await Catalogue(file: file).on(shop.server).download(to: file, when: .changed)
      let hidden = try #require(try files(in: folder).first { $0.hasPrefix(".") })
      let path = folder.appendingPathComponent(hidden).path
      #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
      #expect(try files(in: folder).count == 2)
      let known = try text(folder.appendingPathComponent(hidden))
      #expect(!known.contains("shop.test"), "the URL may contain a secret")
    }
  }

  @Test func `contents() returns the file if the server is unreachable`() async throws {
    try await withFolder { folder in
      let (version, file) = (Shared(1), folder.appendingPathComponent("catalogue"))
      let shop = shop(version)
      try await Server.withDefault(shop.server) {
        let task = Catalogue(file: file)
        #expect(try await task.contents() == Data("version \"1\"".utf8))
        version.withLock { $0 = -1 }
        #expect(try await task.contents() == Data("version \"1\"".utf8))
        #expect(await taskError { try await task.refresh() }?.code == .offline)
        try FileManager.default.removeItem(at: file)
        #expect(await taskError { _ = try await task.contents() }?.code == .offline)
      }
    }
  }

  @Test(arguments: [true, false]) func `uses a preloaded response if nothing is cached`(hasCache: Bool) async throws {
    try await withFolder { folder in
      let (version, file) = (Shared(1), folder.appendingPathComponent("bundled"))
      try Data("bundled".utf8).write(to: file)
      let shop = shop(version, cache: hasCache)
      let task = shop.task("catalogue").preloaded(from: file)
      #expect(try await task.caching(.cacheOnly).download() == "bundled")
      #expect(try await task.caching(.cacheFirst).download() == "bundled" && shop.sentCount == 0)
      version.withLock { $0 = -1 }
      #expect(try await task.download() == "bundled", "the server is unreachable")
      #expect(await taskError { _ = try await task.caching(.none).download() }?.code == .offline)
      version.withLock { $0 = 1 }
      #expect(try await task.download() == "version \"1\"")
      #expect(try await task.caching(.cacheOnly).download() == (hasCache ? "version \"1\"" : "bundled"))
      let missing = shop.task("other").preloaded(from: folder.appendingPathComponent("missing"))
      #expect(await taskError { _ = try await missing.caching(.cacheOnly).download() }?.code == .notCached)
    }
  }

  private struct Checked: FileBackedTask {
    enum Hook: CaseIterable { case verify, postflight, postflightWithCall }

    let path = "catalogue"
    let file: URL
    let rejecting: Hook?
    let other: Modified<ShopTask>

    func verify(_ response: HTTPResponse) throws {
      if rejecting == .verify { throw TaskError(.connectionLost, "withdrawn", phase: .receiving) }
    }
    func postflight(response: HTTPResponse) async throws {
      if rejecting == .postflight { throw TaskError(.connectionLost, "no index", phase: .connecting) }
      if rejecting == .postflightWithCall { _ = try await other.run() }
    }
  }

  @Test(arguments: Checked.Hook.allCases) private func `contents() throws the error of a hook`(
    hook: Checked.Hook
  ) async throws {
    let index = VirtualShop {
      $0.retryPolicy = .never
    } answer: { _, _, _ in
      throw TaskError(.connectionLost, "no index", phase: .receiving)
    }
    try await withFolder { folder in
      let (version, file) = (Shared(1), folder.appendingPathComponent("catalogue"))
      let shop = shop(version)
      _ = try await Checked(file: file, rejecting: nil, other: index.task()).on(shop.server).contents()
      version.withLock { $0 = 2 }
      let task = Checked(file: file, rejecting: hook, other: index.task()).on(shop.server)
      #expect(await taskError { _ = try await task.contents() }?.code == .connectionLost)
      version.withLock { $0 = -1 }
      let older = try await task.contents()
      #expect(try older == Data(contentsOf: file), "the server can't be reached")
    }
  }
}
