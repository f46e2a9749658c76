import ErrandFoundation

/// A tuspyserver with uvicorn on its own port. It stops when ``stop()`` is called or when this process exits.
final class TusServer {
  let port: UInt16
  /// The folder of its uploads.
  private let uploads: URL
  private let process: ChildProcess

  init(in folder: URL) throws {
    let (listener, port) = try LocalSocket.listening()
    close(listener)  // for uvicorn to use
    self.port = port
    uploads = folder.appendingPathComponent("uploads")
    try FileManager.default.createDirectory(at: uploads, withIntermediateDirectories: true)
    let script = folder.appendingPathComponent("serve.py")
    try Data(Self.script.utf8).write(to: script)
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let python = package.appendingPathComponent(".build/servers/bin/python3").path
    guard access(python, X_OK) == 0 else { throw BenchError("\(python) does not exist; .ci/run creates it") }
    process = try ChildProcess([python, script.path, uploads.path, "\(port)"])
    let end = ContinuousClock.now + .seconds(60)
    while true {
      if let descriptor = try? LocalSocket.connected(to: port) {
        close(descriptor)
        return
      }
      if let code = process.ended() { throw BenchError("tuspyserver exited with code \(code)") }
      guard ContinuousClock.now < end else { throw BenchError("tuspyserver did not start listening in time") }
      usleep(20_000)
    }
  }

  /// Returns the non-empty uploads. A process that is killed before it knows its upload's URL leaves an empty upload.
  func files() throws -> [URL] {
    let names = try FileManager.default.contentsOfDirectory(atPath: uploads.path).filter { $0.utf8.count == 32 }
    return names.map { uploads.appendingPathComponent($0) }.filter { $0.byteCount > 0 }
  }

  /// Removes all uploads.
  func clear() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: uploads.path) where !name.hasPrefix(".") {
      try FileManager.default.removeItem(at: uploads.appendingPathComponent(name))
    }
  }

  func stop() { process.terminate() }

  /// Writes uploads on separate threads. Otherwise, a request that waits for an earlier one would block both. An
  /// in-memory lock replaces tuspyserver's own lock, which removes its file on every release and can therefore admit
  /// two requests.
  private static let script = #"""
    import asyncio, collections, contextlib, os, sys, threading, uvicorn
    from fastapi import FastAPI
    from tuspyserver import create_tus_router
    from tuspyserver.storage.local import LocalFileStorage

    class Storage(LocalFileStorage):
        locks = collections.defaultdict(asyncio.Lock)

        @contextlib.asynccontextmanager
        async def lock(self, uid):
            async with self.locks[uid]:
                yield

    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    app = FastAPI()
    app.include_router(
        create_tus_router(prefix="files", files_dir=sys.argv[1], storage=Storage(sys.argv[1])))
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="critical")
    """#
}
