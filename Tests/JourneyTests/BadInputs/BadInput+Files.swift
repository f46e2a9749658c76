import Errand
import ErrandTesting
import Foundation

/// Encoders, request bodies and files that fail.
extension BadInput {
  private struct Numbers: TaskPayload { var value = Double.nan }
  private struct Thrower: Encodable, Sendable {
    func encode(to encoder: any Encoder) throws { throw OutOfInk() }
  }
  private struct ThrowingEncoder: BodyEncoder {
    var mediaType: MediaType { .json }
    func encode<Value: Encodable>(_ value: Value) throws -> Data { throw OutOfInk() }
  }
  private struct Query<Value: Encodable & Sendable>: ServerTask { let query: Value }
  private struct Headers<Value: Encodable & Sendable>: ServerTask { let headers: Value }
  private struct Parameters<Value: Encodable & Sendable>: ServerTask {
    let httpMethod: HTTPMethod
    let parameters: Value
  }

  static let encodings: [BadInput] = [
    encoding("a payload with no number", Numbers(), JSONEncoder(), "value"),
    encoding("a payload that throws", Thrower(), JSONEncoder(), "out of ink"),
    encoding("an encoder that throws", Numbers(value: 1), ThrowingEncoder(), "out of ink"),
    encoding("a form of a number", 7, FormEncoder(), "no name"),
    encoding("a form of a list", [1, 2], FormEncoder(), "no names"),
    encoding("a form of a number that is none", Numbers(), FormEncoder(), "nan"),
    encoding("a form of infinity", ["a": ["b": Double.infinity]], FormEncoder(), "inf"),
    encoding("a form of a payload that throws", ["a": Thrower()], FormEncoder(), "out of ink"),
    encoding("a property list of a number", 7, PropertyListEncoder(), "Int"),
    .task("a query that throws", Query(query: Thrower()), .encodingFailed, "query", "out of ink"),
    .task("a query of a number", Query(query: 7), .encodingFailed, "query", "no name"),
    .task("a query of a list", Query(query: [[1]]), .encodingFailed, "query", "no names"),
    .task("headers that throw", Headers(headers: Thrower()), .encodingFailed, "headers", "out of ink"),
    .task("headers of a number", Headers(headers: 7), .encodingFailed, "headers", "no name"),
    .task("a header of two lines", Headers(headers: ["X-A": "a\r\nb"]), .badRequest, "X-A"),
    .task("parameters that throw", Parameters(httpMethod: .get, parameters: Thrower()), .encodingFailed, "out of ink"),
    .task("a body that throws", Parameters(httpMethod: .post, parameters: Thrower()), .encodingFailed, "out of ink"),
    .task("parameters of a number", Parameters(httpMethod: .get, parameters: 7), .encodingFailed, "no name"),
  ]

  private static func encoding<Payload: Encodable & Sendable>(
    _ name: String, _ payload: Payload, _ encoder: any BodyEncoder, _ words: String...
  ) -> BadInput {
    BadInput(name, .encodingFailed, words: words) { world in
      let task = Endpoint<Payload, Data>.post("echo/x", body: payload).encoder(encoder)
      _ = try await task.on(world.shop.server).run()
    }
  }

  static let uploads: [BadInput] = [
    upload("a file that is not there", .unreadableBody, "missing") { .file($0.missing) },
    upload("a folder", .unreadableBody, "regular file") { .file($0.folder) },
    upload("a device", .unreadableBody, "/dev/zero") { _ in .file(URL(fileURLWithPath: "/dev/zero")) },
    upload("a file below a file", .unreadableBody, "old/x") { .file($0.old.appendingPathComponent("x")) },
    upload("a link to nowhere", .unreadableBody, "link") { world in
      let link = world.folder.appendingPathComponent("link")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: world.missing)
      return .file(link)
    },
    upload("a URL that is no file's", .unreadableBody) { _ in
      .file(URL(string: "https://shop.test/x") ?? URL(fileURLWithPath: "/"))
    },
    upload("a form with a file that is not there", .unreadableBody, "missing") {
      try MultipartForm([.text("a", "b"), .file("c", $0.missing)]).body()
    },
    upload("a form with a folder", .unreadableBody, "regular file") {
      try MultipartForm([.file("c", $0.folder)]).body()
    },
    upload("a stream that is too short", .bodyLengthMismatch, "10") { _ in chunks(["hello"], length: 10) },
    upload("a stream that is too long", .bodyLengthMismatch, "3") { _ in chunks(["hello"], length: 3) },
    upload("a stream of nothing", .bodyLengthMismatch, "3") { _ in chunks([], length: 3) },
    upload("a part that is too long", .bodyLengthMismatch) { _ in
      try MultipartForm([.body("a", chunks(["hello"], length: 3))]).body()
    },
    BadInput("a packed upload of a file that is not there", .unreadableBody, "missing") { world in
      let task = URLTask(world.shop.url("echo/x"), body: .file(world.missing)).gzipped()
      _ = try await task.on(world.shop.server).run()
    },
    BadInput("a body that comes once, twice", .bodyNotReplayable, "once") { world in
      let chunks = AsyncStream<Data> { $0.finish() }
      let task = URLTask(world.shop.url("echo/x"), body: .once(chunks)).on(world.shop.server)
      try await task.run()
      try await task.run()
    },
  ]

  private static func upload(
    _ name: String, _ code: TaskError.Code, _ words: String...,
    body: @escaping @Sendable (World) throws -> HTTPBody
  ) -> BadInput {
    BadInput("an upload of \(name)", code, words: words) { world in
      defer { try? FileManager.default.removeItem(at: world.folder.appendingPathComponent("link")) }  // often missing
      try await URLTask(world.shop.url("echo/x"), body: body(world)).on(world.shop.server).run()
    }
  }

  private static func chunks(_ texts: [String], length: Int64) -> HTTPBody {
    .stream(length: length) {
      AsyncStream {
        for text in texts { $0.yield(Data(text.utf8)) }
        $0.finish()
      }
    }
  }

  static let downloads: [BadInput] = [
    download("a folder", .fileNotWritable, "regular file") { $0.folder },
    download("a device that is full", .fileNotWritable, "/dev/full") { _ in URL(fileURLWithPath: "/dev/full") },
    download("a place below a file", .fileNotWritable, "old/x") { $0.old.appendingPathComponent("x") },
    download("a place deep below a file", .fileNotWritable, "old/x/y") { $0.old.appendingPathComponent("x/y/z") },
    download("a folder that nobody may make", .fileNotWritable, "/proc") { _ in
      URL(fileURLWithPath: "/proc/errand/file")
    },
    download("a name of 300 bytes", .fileNotWritable, "name") { $0.folder.appendingPathComponent(big("a", 300)) },
    download("a folder's name of 300 bytes", .fileNotWritable) {
      $0.folder.appendingPathComponent("new/\(big("a", 300))/file")
    },
    download("a URL that is no file's", .fileNotWritable, "not a file URL") { _ in
      URL(string: "https://shop.test/x") ?? URL(fileURLWithPath: "/")
    },
    download(
      "a new folder, of a body that is cut", .truncatedBody, answer: .truncated(body: Data(count: 100), after: 9)
    ) {
      $0.folder.appendingPathComponent("new/deep/file")
    },
    download("a file, of a body that is cut", .truncatedBody, answer: .truncated(body: Data(count: 100), after: 9)) {
      $0.old
    },
    download("a file, of a connection that is reset", .connectionLost, answer: .reset) { $0.old },
    download("a file, of an error", .badStatus, "503", answer: .status(503, body: "later")) { $0.old },
    download("a file, of nothing", .badStatus, "204", answer: .status(204)) { $0.old },
    download("a file, of half of it", .badStatus, "206", answer: .status(206, body: "half")) { $0.old },
    download(
      "a file, of gzip that is cut", .truncatedBody, "gzip",
      answer: MockAnswer.data(CompressedSample.gzip.dropLast(9)).header(.contentEncoding, "gzip")
    ) { $0.old },
    download(
      "a file, of gzip that is none", .badResponse, "gzip",
      answer: MockAnswer.text("hello").header(.contentEncoding, "gzip")
    ) { $0.old },
    BadInput("HEAD to a file", .badRequest, "HEAD", "head()") {
      let task = URLTask($0.shop.url("plain"), method: .head).on($0.shop.server)
      _ = try await task.download(to: $0.old)
    },
    BadInput("a copy in a file that is not there", .notCached) {
      _ = try await PlainTask().on($0.shop.server).preloaded(from: $0.missing).caching(.cacheOnly).downloadData()
    },
  ]

  private static func download(
    _ name: String, _ code: TaskError.Code, _ words: String..., answer: MockAnswer = .text("new"),
    to place: @escaping @Sendable (World) -> URL
  ) -> BadInput {
    BadInput("a download to \(name)", code, words: words) { world in
      _ = try await PlainTask().on(world.answering(answer).shop.server).download(to: place(world))
    }
  }
}
