import Errand
import ErrandTesting
import Foundation

/// Bad URLs, methods, headers and limits, rejected before sending.
extension BadInput {
  private struct Segments: ServerTask {
    let path: [String]
  }

  static let addresses: [BadInput] = [
    .task("a segment of two dots", Segments(path: ["a", "..", "b"]), .badURL, "segment 2", "'..'"),
    .task("a segment of a dot", Segments(path: [".", "b"]), .badURL, "segment 1", "'.'"),
    .task("a segment of nothing", Segments(path: ["a", "", "b"]), .badURL, "segment 2", "empty"),
    .task("dots in a path of text", PlainTask(path: "a/\(segment: "..")/b"), .badURL, "dots"),
    .task("dots that are escaped", PlainTask(path: "a/%2e%2E/b"), .badURL, "dots"),
    .task("half of them escaped", PlainTask(path: "a/.%2e"), .badURL, "dots"),
    .task("dots before an accent", PlainTask(path: "a/%2e%2e/\u{301}b"), .badURL, "dots"),
    .task("a whole URL without a host", PlainTask(path: "https:///a"), .badURL, "host"),
    .task("a whole URL with a blank in its host", PlainTask(path: "https://a b/c"), .badURL),
    .task(
      "a whole URL of plain http", PlainTask(path: "http://shop.test/"), .insecureScheme, "shop.test", "insecureHosts"),
    url("ftp://shop.test/x", .badURL, "http"),
    url("file:///etc/passwd", .badURL, "http"),
    url("data:text/plain,hello", .badURL, "http"),
    url("mailto:ada@shop.test", .badURL, "http"),
    url("relative/path", .badURL, "http"),
    url("https:path", .badURL),
    url("https:///path", .badURL, "host"),
    url("https://a..test/", .badURL, "empty label"),
    url("https://a.test:70000/", .badURL, "port"),
    url("https://1.2.3.4.5/", .badURL, "number"),
    url("https://256.1.1.1/", .badURL, "number"),
    url("https://0x1ffffffff/", .badURL, "number"),
    url("https://[::g]/", .badURL),
    url("https://a%00b.test/", .badURL, "control character"),
    url("https://a%zz.test/", .badURL),
    url("https://a%20b.test/", .badURL, "whitespace"),
    url("https://a%2fb.test/", .badURL, "delimiter"),
    url("http://shop.test/", .insecureScheme, "insecureHosts"),
    url("http://10.0.0.1/", .insecureScheme, "10.0.0.1"),
    url("https://shop.invalid/", .cannotResolveHost, "shop.invalid"),
    .task("a URL of 70,000 bytes", PlainTask(path: big("a", 70_000)), .badURL, "the URL", "61440"),
    remote("", .noRemote, "no remote"), remote("shop.test", .badURL, "scheme"), remote("/v1", .badURL, "scheme"),
    remote("https://", .badURL), remote("https://shop test/", .badURL, "whitespace"),
    remote("https://shop.test/#part", .badURL, "fragment"), remote("https://ada:pw@shop.test/", .badURL, "user"),
    remote("http://shop.test/", .insecureScheme, "insecureHosts"), remote("https://shop.test:x/", .badURL),
    BadInput("a name of a remote that nobody knows", .unknownRemote, "SHOP", "'moon'", "local") { _ in
      _ = try Remote.fromEnvironment(
        "SHOP", among: [Remote("https://a.test", name: "local")], default: .none, environment: ["SHOP": "moon"])
    },
  ]

  private static func url(_ text: String, _ code: TaskError.Code, _ words: String...) -> BadInput {
    BadInput("the URL \(text)", code, words: words) { world in
      guard let url = URL(string: text) else {
        throw TaskError(.badURL, "\(text) is no URL: host http", phase: .preparing)
      }
      try await URLTask(url).on(world.shop.server).run()
    }
  }

  private static func remote(_ address: String, _ code: TaskError.Code, _ words: String...) -> BadInput {
    BadInput("the remote '\(address)'", code, words: words) { world in
      let server = Server(
        Remote(address), configuration: world.shop.server.configuration, manager: world.shop.server.manager)
      try await PlainTask().on(server).run()
    }
  }

  static let messages: [BadInput] =
    ["", "a b", "a:b", "a\r\nb", "é", "a(b)"].map { name in
      .task(
        "the field name \(name.debugDescription)", PlainTask().header(HTTPHeaderName(name), "x"), .badRequest,
        "an invalid name")
    }
    + ["a\r\nb: c", "a\nb", "a\rb", "a\0b"].map { value in
      .task(
        "the value \(value.debugDescription)", PlainTask().header("X-Mine", value), .badRequest, "X-Mine", "line break")
    }
    + ["GE T", "GET\r\nHost: evil", "gét", "CONNECT", "PRI"].map { name in
      BadInput("the method \(name.debugDescription)", .badRequest) { world in
        try await URLTask(world.shop.url("plain"), method: HTTPMethod(name)).on(world.shop.server).run()
      }
    } + [
      BadInput("HEAD with a body", .badRequest, "HEAD", "cannot have a body") {
        try await URLTask($0.shop.url("plain"), method: .head, body: .text("x")).on($0.shop.server).run()
      },
      BadInput("TRACE with a body", .badRequest, "TRACE", "cannot have a body") {
        try await URLTask($0.shop.url("plain"), method: .trace, body: .text("x")).on($0.shop.server).run()
      },
      .task("a field of 70,000 bytes", PlainTask().header("X-Big", big("a", 70_000)), .badRequest, "X-Big", "61440"),
      BadInput("a field of the server with a line break", .badRequest, "X-Server") { world in
        var configuration = world.shop.server.configuration
        configuration.standardHeaders["X-Server"] = "a\nb"
        let server = Server(
          Remote(world.shop.mock.url), configuration: configuration, manager: world.shop.server.manager)
        try await PlainTask().on(server).run()
      },
      .task(
        "a user name with a colon", PlainTask().authenticated(.basic(user: "a:b", password: "c")), .badRequest, "user"),
      BadInput("a preflight that throws", .disabled, "by hand") { world in
        struct Refusing: ServerTask {
          func preflight(_ request: inout HTTPRequest) async throws {
            throw TaskError(.disabled, "by hand", phase: .preparing)
          }
        }
        try await world.on(Refusing()).run()
      },
    ]

  static let limits: [BadInput] = [
    .task("a time limit of nothing", PlainTask().timeout(.zero), .badLimit, "timeout", "0"),
    .task("a time limit below nothing", PlainTask().timeout(.seconds(-1)), .badLimit, "timeout", "-1"),
    .task("a queue of nothing", PlainTask().timeouts(Timeouts(queue: .zero)), .badLimit, "timeouts.queue"),
    .task("a connect of nothing", PlainTask().timeouts(Timeouts(connect: .zero)), .badLimit, "timeouts.connect"),
    .task("a first byte of nothing", PlainTask().timeouts(Timeouts(firstByte: .zero)), .badLimit, "timeouts.firstByte"),
    .task("an idle time of nothing", PlainTask().timeouts(Timeouts(idle: .zero)), .badLimit, "timeouts.idle"),
    .task("an attempt of nothing", PlainTask().timeouts(Timeouts(attempt: .zero)), .badLimit, "timeouts.attempt"),
    .task("a deadline that has passed", PlainTask().deadline(.seconds(-1)), .timedOut, "timeouts.call"),
    silent("the attempt", PlainTask().timeout(.milliseconds(30)), "'timeout'", "0.03"),
    silent("the first byte", PlainTask().timeouts(Timeouts(firstByte: .milliseconds(30))), "timeouts.firstByte"),
    silent("the call", PlainTask().deadline(.milliseconds(30)), "timeouts.call"),
    BadInput("a body that stands still", .timedOut, "timeouts.idle") { world in
      let answer = MockAnswer.text("later").bodyAfter(.seconds(3600))
      let task = PlainTask().timeouts(Timeouts(idle: .milliseconds(30)))
      _ = try await task.on(world.answering(answer).shop.server).downloadData()
    },
  ]

  private static func silent(_ name: String, _ task: some ServerTask, _ words: String...) -> BadInput {
    BadInput("a server that is silent, and a limit of \(name)", .timedOut, words: words) { world in
      try await task.on(world.answering(.hang).shop.server).run()
    }
  }
}
