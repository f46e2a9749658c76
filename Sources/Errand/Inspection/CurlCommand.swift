import ErrandFoundation

/// A `curl` command as a request, such as browsers and documentation give for copying.
///
///     let command = try CurlCommand("curl -X POST https://shop.example/widgets -d name=Sprocket")
///     let data = try await command.task.download()
///
/// The line is read as a POSIX shell reads it; nothing in it is run. An option that cannot be had here is refused by its name. Files
/// that it names are read when the request is sent.
public struct CurlCommand: Sendable {
  /// The request.
  public let request: HTTPRequest
  /// True where redirects are followed: `--location`.
  public let followsRedirects: Bool
  /// The options that change nothing about what is sent, such as `--silent`.
  public let ignored: [String]

  /// Reads a command.
  ///
  /// - Parameter line: The command, over several lines where each but the last ends with a backslash; `printf '…' |` may stand before
  ///   it.
  /// - Throws: ``TaskError`` with code `.badRequest` where the line is no such command, or has an option that cannot be had here.
  public init(_ line: String) throws(TaskError) {
    var reader = CurlReader()
    do {
      let (words, input) = try ShellWords.command(in: line)
      try reader.read(words, input: input)
      request = try reader.request
    } catch {
      let reason = "can't read the curl command: \(Redaction.standard(text: error.reason))"
      throw TaskError(.badRequest, reason, phase: .preparing, isSurelyNotSent: true)
    }
    followsRedirects = reader.followsRedirects
    ignored = reader.ignored
  }

  /// The request as a task. Redirects are followed where the command says so; `Accept` and `User-Agent` are the server's unless it states
  /// them.
  public var task: Modified<URLTask> {
    let (options, follows) = (request.options, followsRedirects)
    let task = URLTask(request.url, method: request.method, headers: request.headers, body: request.body)
    return task.modified { plan in
      if let limit = options.timeouts.attempt { plan.timeout = limit }
      plan.timeouts.connect = options.timeouts.connect ?? plan.timeouts.connect
      if !follows { plan.redirectPolicy = .refuse }
    }
  }
}
