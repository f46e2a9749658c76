public import Errand
import ErrandFoundation

/// A request parsed from a `curl` command, such as one copied from a browser or from documentation.
///
///     let command = try CurlCommand("curl -X POST https://shop.example/widgets -d name=Sprocket")
///     let data = try await command.task.send()
///
/// The command is parsed as in a POSIX shell, but nothing is executed. If an option is unsupported, the error contains
/// its name. Files named in the command are read when the request is sent.
public struct CurlCommand: Sendable {
  /// The request.
  public let request: HTTPRequest
  /// Whether redirects are followed (`--location`).
  public let followsRedirects: Bool
  /// The options that do not change the request, such as `--silent`.
  public let ignored: [String]

  /// Parses a command.
  ///
  /// - Parameter line: The command. It can span several lines if all but the last end with a backslash and can begin
  ///   with `printf '…' |`.
  /// - Throws: `TaskError` with code `.badRequest` if the line is not a curl command or has an unsupported option.
  public init(_ line: String) throws(TaskError) {
    var reader = CurlReader()
    do {
      let (words, input) = try ShellWords.command(in: line)
      try reader.read(words, input: input)
      request = try reader.request
    } catch {
      let reason = "can't read the curl command: \(Redaction.standard(text: error.reason))"
      throw TaskError(.badRequest, reason, phase: .preparing, wasNotSent: true)
    }
    followsRedirects = reader.followsRedirects
    ignored = reader.ignored
  }

  /// A task that sends the request. It follows redirects if the command does. The server's `Accept` and `User-Agent`
  /// are used unless the command sets its own.
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
