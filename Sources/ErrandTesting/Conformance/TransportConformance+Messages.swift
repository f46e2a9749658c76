import Errand
import Foundation

// Heads: what is sent and what comes back, untouched.
extension TransportConformance {
  static let messages: [Check] = heads + targets + bodiless

  private static let heads: [Check] = [
    (
      "header fields are sent in order, with duplicates and empty ones",
      { trial in
        let headers: HTTPHeaders = ["X-B": "1", "X-A": "2", "X-B": "3", "X-Empty": "", "X-Ü": "never"]
        var sent = HTTPHeaders(headers.fields.dropLast())
        sent.add("Zoë", for: "X-Name")
        try await trial.fetch(try trial.request(headers: sent), answer: .status(200))
        let received = try trial.received().headers.filter { $0.name.rawName.hasPrefix("X-") }
        try trial.equal(received.map { "\($0.name)=\($0.value)" }, sent.map { "\($0.name)=\($0.value)" }, "the header")
      }
    ),
    (
      "header fields come in order, with duplicates",
      { trial in
        let raw = "HTTP/1.1 200 OK\r\nX-B: 1\r\nX-A: 2\r\nx-b:3  \r\nX-Empty:\r\nContent-Length: 0\r\n\r\n"
        let (response, _) = try await trial.fetch(try trial.request(), answer: .raw(Data(raw.utf8)))
        let fields = response.headers.filter { $0.name != .contentLength }.map { "\($0.name)=\($0.value)" }
        try trial.equal(fields.map { $0.lowercased() }, ["x-b=1", "x-a=2", "x-b=3", "x-empty="], "the header")
      }
    ),
    (
      "a redirect is a response like any other",
      { trial in
        let answer = MockAnswer.status(302, headers: ["Location": "/elsewhere"], body: "moved")
        let (response, body) = try await trial.fetch(try trial.request(), answer: answer)
        try trial.equal(response.status.code, 302, "the status")
        try trial.equal(response.headers[.location], "/elsewhere", "Location")
        try trial.equal(body, Data("moved".utf8), "the body")
        try trial.equal(trial.server.requestCount, 1, "the number of requests")
      }
    ),
    (
      "a 401 is a response like any other",
      { trial in
        let answer = MockAnswer.status(401, headers: ["WWW-Authenticate": "Basic realm=\"x\""], body: "who?")
        let (response, body) = try await trial.fetch(try trial.request(), answer: answer)
        try trial.equal(response.status, .unauthorized, "the status")
        try trial.equal(body, Data("who?".utf8), "the body")
        try trial.equal(trial.server.requestCount, 1, "the number of requests")
      }
    ),
    (
      "cookies are neither kept nor sent",
      { trial in
        for _ in 0..<2 {
          let answer = MockAnswer.status(200, headers: ["Set-Cookie": "a=1", "Set-Cookie": "b=2; Path=/"])
          let (response, _) = try await trial.fetch(try trial.request(), answer: answer)
          try trial.equal(response.headers.values(for: .setCookie), ["a=1", "b=2; Path=/"], "Set-Cookie")
        }
        try trial.holds(trial.server.requests.allSatisfy { !$0.headers.contains(.cookie) }, "no cookie is sent")
      }
    ),
    (
      "interim responses are passed over",
      { trial in
        let raw = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        let (response, body) = try await trial.fetch(try trial.request(), answer: .raw(Data(raw.utf8)))
        try trial.equal(response.status, .ok, "the status")
        try trial.equal(response.headers[.link], nil, "a field of the interim response")
        try trial.equal(body, Data("ok".utf8), "the body")
      }
    ),
    (
      "nothing is added to a request that it does not need",
      { trial in
        try await trial.fetch(try trial.request(headers: ["User-Agent": "mine"]), answer: .status(200))
        let headers = try trial.received().headers
        for name in [HTTPHeaderName.contentType, .contentLength, .transferEncoding, .expect, .cookie] {
          try trial.equal(headers[name], nil, "\(name)")
        }
        try trial.equal(headers.values(for: .userAgent), ["mine"], "User-Agent")
      }
    ),
  ]

  private static let targets: [Check] = [
    (
      "escapes in the path and the query are sent as they are",
      { trial in
        let target = "/a%2Fb/%7Ec;v=1/%E2%82%AC?q=%20+x&p=a%26b&e="
        try await trial.fetch(try trial.request(.get, target), answer: .status(200))
        try trial.equal(try trial.received().target, target, "the target")
      }
    ),
    (
      "dot segments are sent as they are",
      { trial in
        try await trial.fetch(try trial.request(.get, "/a/../b/./c//d"), answer: .status(200))
        try trial.equal(try trial.received().target, "/a/../b/./c//d", "the target")
      }
    ),
    (
      "a fragment is not sent",
      { trial in
        try await trial.fetch(try trial.request(.get, "/a?b#c"), answer: .status(200))
        try trial.equal(try trial.received().target, "/a?b", "the target")
      }
    ),
    (
      "any method is sent as it is",
      { trial in
        for method: HTTPMethod in [.get, .post, .put, .patch, .delete, .options, "PURGE"] {
          try await trial.fetch(try trial.request(method), answer: .status(200))
        }
        let methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"]
        try trial.equal(trial.server.requests.map(\.method.rawValue), methods, "the methods")
      }
    ),
  ]

  private static let bodiless: [Check] = [
    (
      "the answer to HEAD has a length and no body, and its connection goes on",
      { trial in
        let (response, body) = try await trial.fetch(try trial.request(.head), answer: .text("ten bytes."))
        try trial.equal(response.headers[.contentLength], "10", "Content-Length")
        try trial.equal(body.count, 0, "the number of bytes")
        try trial.equal(try await trial.fetch(try trial.request(), answer: .text("b")).body, Data("b".utf8), "the next")
        try trial.equal(trial.server.connectionCount, 1, "the number of connections")
      }
    ),
    (
      "204 and 304 have no body, and their connection goes on",
      { trial in
        for status: HTTPStatus in [.noContent, .notModified] {
          let answer = MockAnswer.status(status, headers: ["ETag": "\"x\""])
          let (response, body) = try await trial.fetch(try trial.request(), answer: answer)
          try trial.equal(response.status, status, "the status")
          try trial.equal(body.count, 0, "the number of bytes")
        }
        try trial.equal(try await trial.fetch(try trial.request(), answer: .text("b")).body, Data("b".utf8), "the next")
        try trial.equal(trial.server.connectionCount, 1, "the number of connections")
      }
    ),
  ]
}
