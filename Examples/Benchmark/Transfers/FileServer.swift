import ErrandFoundation

/// An nginx that serves a folder on its own port. It stops when ``stop()`` is called.
final class FileServer {
  let port: UInt16
  private let process: ChildProcess

  init(serving folder: URL, bytesPerSecond: Int) throws {
    let (listener, port) = try LocalSocket.listening()
    close(listener)  // for nginx to use
    self.port = port
    let configuration = folder.appendingPathComponent("nginx.conf")
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
      "\($0)_temp_path \(folder.path)/\($0);"
    }
    let text = """
      daemon off; worker_processes 1; pid \(folder.path)/nginx.pid; error_log \(folder.path)/error.log;
      events { worker_connections 64; }
      http {
        access_log off; sendfile on; \(temporary.joined(separator: " "))
        server { listen 127.0.0.1:\(port); root \(folder.path); limit_rate \(bytesPerSecond); }
      }
      """
    try Data(text.utf8).write(to: configuration)
    let places: [String] = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/opt/homebrew/bin/nginx"]
    let program = places.first { access($0, X_OK) == 0 }
    guard let program else { throw BenchError("nginx is not installed") }
    process = try ChildProcess(
      [program, "-p", folder.path, "-c", configuration.path, "-e", "\(folder.path)/error.log"])
    let end = ContinuousClock.now + .seconds(30)
    while true {
      if let descriptor = try? LocalSocket.connected(to: port) {
        close(descriptor)
        return
      }
      guard ContinuousClock.now < end else { throw BenchError("nginx did not start listening in time") }
      usleep(10_000)
    }
  }

  func stop() { process.terminate() }
}
