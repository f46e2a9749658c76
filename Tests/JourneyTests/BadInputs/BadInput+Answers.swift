import Errand
import ErrandTesting
import Foundation

/// Bad heads, framing, encodings and statuses.
extension BadInput {
  private static let ok = "HTTP/1.1 200 OK\r\n"
  private static let chunked = "\(ok)Transfer-Encoding: chunked\r\n\r\n"

  static let heads: [BadInput] = [
    .answer("nothing at all", "", .connectionLost, "waiting for the response"),
    .answer("half a status line", "HTTP/1.1 2", .connectionLost),
    .answer("a head that ends in a name", "\(ok)Content-Le", .connectionLost),
    .answer("a head that ends in a value", "\(ok)Server: ngi", .connectionLost),
    .answer("a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", .badResponse, "cannot be read"),
    .answer("a status of letters", "HTTP/1.1 OK 200\r\n\r\n", .badResponse, "cannot be read"),
    .answer("a status below 100", "HTTP/1.1 000 Nil\r\n\r\n", .badResponse, "cannot be read"),
    .answer("HTTP/0.9", "<html>hello</html>\n", .badResponse, "cannot be read"),
    .answer("another protocol", "220 mail.test ESMTP\r\n", .badResponse, "cannot be read"),
    .answer("a greeting of FTP", "220-Welcome\r\n220 ready\r\n", .badResponse, "cannot be read"),
    .answer("TLS without being asked", "\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}\u{28}", .badResponse),
    .answer("a field without a name", "\(ok): a\r\n\r\n", .badResponse, "invalid line"),
    .answer("a blank before a colon", "\(ok)Server : a\r\n\r\n", .badResponse, "invalid line", "Server"),
    .answer("a field in brackets", "\(ok)[a]: b\r\n\r\n", .badResponse, "invalid line", "[a]"),
    .answer("an equals sign for a colon", "\(ok)Server=a\r\n\r\n", .badResponse, "cannot be read"),
    .answer("a NUL in a value", "\(ok)Server: a\0b\r\n\r\n", .badResponse, "cannot be read"),
    .answer("a CR in a value", "\(ok)Server: a\rb: c\r\n\r\n", .badResponse, "CR|Carriage return"),
    .answer(
      "two lengths", "\(ok)Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", .badResponse, "1 and 2|Content-Length"),
    .answer("a length of words", "\(ok)Content-Length: five\r\n\r\nhello", .badResponse, "Content-Length"),
    .answer("a length below zero", "\(ok)Content-Length: -1\r\n\r\n", .badResponse, "Content-Length"),
    .answer(
      "a length with a fraction", "\(ok)Content-Length: 1.0\r\n\r\na", .badResponse, "Content-Length", "1.0|value"),
    .answer("a length of 2^64", "\(ok)Content-Length: 18446744073709551616\r\n\r\n", .badResponse, "Content-Length"),
    .answer(
      "a coding that nobody knows", "\(ok)Transfer-Encoding: zip\r\n\r\n", .badResponse,
      "chunked|Transfer-Encoding", "zip"),
    .answer("chunks twice", "\(ok)Transfer-Encoding: chunked, chunked\r\n\r\n", .badResponse, "Transfer-Encoding"),
    .answer(
      "chunks in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .badResponse, "HTTP/1.0"),
    .answer("a folded line first", "\(ok) a: b\r\n\r\n", .badResponse, "folded|invalid line"),
    .answer("a switch of protocols", "HTTP/1.1 101 Up\r\nUpgrade: x\r\n\r\n", .badResponse, "switches protocols"),
    .answer("a head of 300 KiB", ok + big("X-A: b\r\n", 40_000), .badResponse),
    .answer("a value of 300 KiB", "\(ok)X: \(big("a", 300_000))\r\n\r\n", .badResponse),
  ]

  static let framings: [BadInput] = [
    .answer("a body that is cut", "\(ok)Content-Length: 10\r\n\r\nhello", .truncatedBody, "5"),
    .answer("a body that never begins", "\(ok)Content-Length: 10\r\n\r\n", .truncatedBody),
    .answer("a chunk that is cut", "\(chunked)5\r\nhel", .truncatedBody),
    .answer("a size that is cut", "\(chunked)5", .truncatedBody),
    .answer("chunks without the last", "\(chunked)5\r\nhello\r\n", .truncatedBody),
    .answer("a last chunk without an end", "\(chunked)5\r\nhello\r\n0\r\n", .truncatedBody),
    .answer("a size of no number", "\(chunked)zz\r\nhello\r\n0\r\n\r\n", .badResponse),
    .answer("a size that is empty", "\(chunked)\r\nhello\r\n0\r\n\r\n", .badResponse),
    .answer("a size below zero", "\(chunked)-5\r\nhello\r\n0\r\n\r\n", .badResponse),
    .answer("a size of 2^64", "\(chunked)10000000000000000\r\nhello\r\n", .badResponse),
    .answer("a chunk that is longer than its size", "\(chunked)2\r\nhello\r\n0\r\n\r\n", .badResponse),
    .answer("a trailer that is no field", "\(chunked)1\r\na\r\n0\r\nno field\r\n\r\n", .badResponse, "trailer"),
    .answer("a trailer without end", "\(chunked)0\r\n\(big("X: a\r\n", 20_000))", .badResponse, "trailer"),
  ]

  static let compressed: [BadInput] = [
    compressed("gzip that is cut", CompressedSample.gzip.dropLast(20), .truncatedBody, "gzip", "before the end"),
    compressed("gzip without its check", CompressedSample.gzip.dropLast(8), .truncatedBody, "gzip"),
    compressed("gzip of nothing", Data(CompressedSample.gzip.prefix(5)), .truncatedBody, "gzip"),
    compressed("gzip with another check", CompressedSample.gzip.dropLast(5) + Data(count: 5), .badResponse, "gzip"),
    compressed("gzip that is text", Data("hello, world".utf8), .badResponse, "gzip"),
    compressed("gzip and more", CompressedSample.gzip + Data("more".utf8), .badResponse, "follow the end"),
    compressed("gzip that is deflate", CompressedSample.zlib, .badResponse, "gzip"),
    compressed("deflate that is gzip", CompressedSample.gzip, .badResponse, "is gzip", coding: "deflate"),
    compressed("deflate that is text", Data("hello, world".utf8), .badResponse, "deflate", coding: "deflate"),
    compressed("deflate that is cut", CompressedSample.zlib.dropLast(30), .truncatedBody, "deflate", coding: "deflate"),
    compressed(
      "a body that is packed 20 times", CompressedSample.gzip, .badResponse, "20 times",
      coding: big("gzip, ", 19) + "gzip"),
    compressed("a few bytes that unpack to millions", CompressedSample.zeros, .bodyTooLarge, "maximumBodySize"),
  ]

  private static func compressed(
    _ name: String, _ body: Data, _ code: TaskError.Code, _ words: String..., coding: String = "gzip"
  ) -> BadInput {
    BadInput(name, code, words: words) {
      try await $0.answering(MockAnswer.data(body, type: .json).header(.contentEncoding, coding)).download()
    }
  }

  static let statuses: [BadInput] =
    [300, 305, 306, 400, 401, 403, 404, 405, 408, 409, 410, 413, 415, 422, 426, 428, 429, 451, 500, 501, 502, 503, 511]
    .map { (code: Int) in
      BadInput("status \(code)", .badStatus, "\(code)", "/plain") {
        try await $0.answering(.status(HTTPStatus(code), body: "no")).download()
      }
    } + [
      BadInput("a part that was not asked for", .badStatus, "206", "no Range") {
        try await $0.answering(.status(206, headers: [.contentRange: "bytes 0-1/9"], body: "ab")).download()
      },
      BadInput("another part than was asked for", .badStatus, "Content-Range", "bytes 5-6/9") {
        let world = $0.answering(.status(206, headers: [.contentRange: "bytes 5-6/9"], body: "ab"))
        _ = try await PlainTask().on(world.shop.server).header(.range, "bytes=0-1").downloadData()
      },
      BadInput("a 304 to whoever has no copy", .notModified, "304") {
        try await $0.answering(.status(304)).download()
      },
      BadInput("a body that is larger than may be", .bodyTooLarge, "maximumBodySize", "1048576") {
        try await $0.answering(.data(Data(count: 2 << 20))).download()
      },
      BadInput("a body without end", .bodyTooLarge, "maximumBodySize") {
        try await $0.answering(.endless(chunk: Data(count: 1 << 16))).download()
      },
    ]

  static let redirects: [BadInput] = [
    redirect("to itself", "/plain", .tooManyRedirects, "/plain"),
    redirect("to nowhere", "http://[", .badRedirect, "Location"),
    redirect("to a file", "file:///etc/passwd", .badRedirect),
    redirect("to an app", "myapp://callback?code=1", .badRedirect, "myapp"),
    redirect("without a host", "https:///x", .badRedirect),
    redirect("to a user", "https://shop.test@evil.test/", .badRedirect, "user"),
    redirect("to plain http elsewhere", "http://shop.invalid/", .insecureScheme, "shop.invalid"),
    redirect("to an odd address", "http://127.1.2.3.4/", .badRedirect),
    redirect("with a body that comes once", "/next", .bodyNotReplayable, "once", status: 307),
    BadInput("a redirect to two places", .badRedirect, "several Location") {
      try await $0.answering(.status(302, headers: [.location: "/a", .location: "/b"])).download()
    },
  ]

  private static func redirect(
    _ name: String, _ location: String, _ code: TaskError.Code, _ words: String..., status: HTTPStatus = 302
  ) -> BadInput {
    BadInput("a redirect \(name)", code, words: words) { world in
      let world = world.answering(.status(status, headers: [.location: location]))
      guard status == 307 else { return try await world.download() }
      let chunks = AsyncStream<Data> {
        $0.yield(Data("once".utf8))
        $0.finish()
      }
      _ = try await URLTask(world.shop.url("echo/x"), method: .post, body: .once(chunks)).on(world.shop.server).run()
    }
  }

  static func big(_ text: String, _ times: Int) -> String { String(repeating: text, count: times) }
}
