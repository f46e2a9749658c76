import Errand
import ErrandFoundation

// The heads of requests and responses, which must arrive unchanged.
extension TransportConformance {
  static let messages: [Check] = heads + targets + bodiless

  private static let heads: [Check] = [
    Check("sends header fields in order, including duplicates and empty fields", needs: .fieldOrder) { trial in
      let headers: HTTPHeaders = ["X-B": "1", "X-A": "2", "X-B": "3", "X-Empty": "", "X-Ü": "never"]
      var sent = HTTPHeaders(headers.fields.dropLast())
      sent.add("Zoë", for: "X-Name")
      try await trial.fetch(try trial.request(headers: sent), answer: .status(200))
      // An intermediary adds header fields, and HTTP/2 names are lowercase (RFC 9113 §8.2.1).
      let received = try trial.received().headers.filter { sent.contains($0.name) }
      let isSpelled = trial.traits.contains(.connections)
      func spelled(_ fields: [HTTPHeaders.Field]) -> [String] {
        fields.map { isSpelled ? "\($0.name)=\($0.value)" : "\($0.name)=\($0.value)".lowercased() }
      }
      try trial.equal(spelled(received), spelled(sent.fields), "the header")
    },
    Check("delivers header fields in order, including duplicates", needs: .fieldOrder) { trial in
      let raw = "HTTP/1.1 200 OK\r\nX-B: 1\r\nX-A: 2\r\nx-b:3  \r\nX-Empty:\r\nContent-Length: 0\r\n\r\n"
      let (response, _) = try await trial.fetch(try trial.request(), answer: .raw(Data(raw.utf8)))
      let fields = response.headers.filter { ["X-A", "X-B", "X-Empty"].contains($0.name) }
      let lines = fields.map { "\($0.name)=\($0.value)".lowercased() }
      try trial.equal(lines, ["x-b=1", "x-a=2", "x-b=3", "x-empty="], "the header")
    },
    Check("returns a redirect like any other response") { trial in
      let answer = MockAnswer.status(302, headers: ["Location": "/elsewhere"], body: "moved")
      let (response, body) = try await trial.fetch(try trial.request(), answer: answer)
      try trial.equal(response.status.code, 302, "the status")
      try trial.equal(response.headers[.location], "/elsewhere", "Location")
      try trial.equal(body, Data("moved".utf8), "the body")
      try trial.equal(trial.server.requestCount, 1, "the number of requests")
    },
    Check("returns a 401 like any other response") { trial in
      let answer = MockAnswer.status(401, headers: ["WWW-Authenticate": "Basic realm=\"x\""], body: "who?")
      let (response, body) = try await trial.fetch(try trial.request(), answer: answer)
      try trial.equal(response.status, .unauthorized, "the status")
      try trial.equal(body, Data("who?".utf8), "the body")
      try trial.equal(trial.server.requestCount, 1, "the number of requests")
    },
    Check("neither stores nor sends cookies") { trial in
      for _ in 0..<2 {
        let answer = MockAnswer.status(200, headers: ["Set-Cookie": "a=1", "Set-Cookie": "b=2; Path=/"])
        let (response, _) = try await trial.fetch(try trial.request(), answer: answer)
        try trial.equal(response.headers.values(for: .setCookie), ["a=1", "b=2; Path=/"], "Set-Cookie")
      }
      try trial.holds(trial.server.requests.allSatisfy { !$0.headers.contains(.cookie) }, "no cookie is sent")
    },
    Check("skips interim responses", needs: .interimResponses) { trial in
      let raw = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
      let (response, body) = try await trial.fetch(try trial.request(), answer: .raw(Data(raw.utf8)))
      try trial.equal(response.status, .ok, "the status")
      try trial.equal(response.headers[.link], nil, "the interim response's Link field")
      try trial.equal(body, Data("ok".utf8), "the body")
    },
    Check("adds only required fields to a request") { trial in
      try await trial.fetch(try trial.request(headers: ["User-Agent": "mine"]), answer: .status(200))
      let headers = try trial.received().headers
      for name in [HTTPHeaderName.contentType, .contentLength, .transferEncoding, .expect, .cookie] {
        try trial.equal(headers[name], nil, "\(name)")
      }
      try trial.equal(headers.values(for: .userAgent), ["mine"], "User-Agent")
    },
  ]

  private static let targets: [Check] = [
    Check("sends escapes in the path and the query unchanged", needs: .target) { trial in
      let target = "/a%2Fb/%7Ec;v=1/%E2%82%AC?q=%20+x&p=a%26b&e="
      try await trial.fetch(try trial.request(.get, target), answer: .status(200))
      try trial.equal(try trial.received().target, target, "the target")
    },
    Check("sends dot segments unchanged", needs: .target) { trial in
      try await trial.fetch(try trial.request(.get, "/a/../b/./c//d"), answer: .status(200))
      try trial.equal(try trial.received().target, "/a/../b/./c//d", "the target")
    },
    Check("does not send the fragment") { trial in
      try await trial.fetch(try trial.request(.get, "/a?b#c"), answer: .status(200))
      try trial.equal(try trial.received().target, "/a?b", "the target")
    },
    Check("sends any method unchanged", needs: .methods) { trial in
      for method: HTTPMethod in [.get, .post, .put, .patch, .delete, .options, "PURGE"] {
        try await trial.fetch(try trial.request(method), answer: .status(200))
      }
      let methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"]
      try trial.equal(trial.server.requests.map(\.method.rawValue), methods, "the methods")
    },
  ]

  private static let bodiless: [Check] = [
    Check("returns a length but no body for HEAD, and reuses the connection") { trial in
      let (response, body) = try await trial.fetch(try trial.request(.head), answer: .text("ten bytes."))
      try trial.equal(response.headers[.contentLength], "10", "Content-Length")
      try trial.equal(body.count, 0, "the number of bytes")
      let next = try await trial.fetch(try trial.request(), answer: .text("b"))
      try trial.equal(next.body, Data("b".utf8), "the next")
      try trial.isReused(next.response)
    },
    Check("returns no body for 204 and 304, and reuses the connection") { trial in
      for status: HTTPStatus in [.noContent, .notModified] {
        let answer = MockAnswer.status(status, headers: ["ETag": "\"x\""])
        let (response, body) = try await trial.fetch(try trial.request(), answer: answer)
        try trial.equal(response.status, status, "the status")
        try trial.equal(body.count, 0, "the number of bytes")
      }
      let next = try await trial.fetch(try trial.request(), answer: .text("b"))
      try trial.equal(next.body, Data("b".utf8), "the next")
      try trial.isReused(next.response)
    },
  ]
}
