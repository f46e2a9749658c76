import Errand
import ErrandFoundation

extension TransportConformance {
  static let failures: [Check] = refusals + breaks

  private static let refusals: [Check] = [
    Check("rejects a header field with a line break without sending anything") { trial in
      for value in ["a\r\nX-Other: b", "a\nb", "a\rb", "a\0b"] {
        _ = try await trial.failure(of: try trial.request(headers: ["X-Bad": value]), .badRequest)
      }
      _ = try await trial.failure(of: try trial.request(headers: ["X Bad": "a"]), .badRequest)
      try trial.equal(trial.server.requestCount, 0, "the number of requests")
    },
    Check("rejects an invalid method without sending anything") { trial in
      _ = try await trial.failure(of: try trial.request("GET /x HTTP/1.1\r\nX:"), .badRequest)
      try trial.equal(trial.server.requestCount, 0, "the number of requests")
    },
    Check("rejects schemes other than http and https") { trial in
      let file = HTTPRequest(.get, URL(fileURLWithPath: "/etc/hostname"))
      _ = try await trial.failure(of: file, .badURL)
    },
    Check("reports that nothing was sent if the connection is refused") { trial in
      // Another process may have got the port of the stopped server.
      for isLast in [false, false, true] {
        let closed = try MockServer()
        closed.stop()
        do {
          let error = try await trial.failure(of: HTTPRequest(.post, closed.url, body: .text("x")), .cannotConnect)
          try trial.holds(error.wasNotSent, "the request was not sent")
          return try trial.equal(error.phase, .connecting, "the phase")
        } catch  where !isLast {}
      }
    },
  ]

  private static let breaks: [Check] = [
    Check("reports a lost connection if the server closes it without a response", needs: .connections) {
      trial in
      for answer in [MockAnswer.drop, .reset] {
        trial.server.enqueue(answer)
        let error = try await trial.failure(of: try trial.request(.post, body: .text("x")), .connectionLost)
        try trial.holds(!error.wasNotSent, "the request may have been read")
      }
      try trial.equal(trial.server.requestCount, 2, "the number of requests")
    },
    Check("reports a body that is shorter than its length as truncated", needs: .truncation) { trial in
      trial.server.enqueue(.truncated(body: Data(count: 1000), after: 400))
      let error = try await trial.failure(of: try trial.request(), .truncatedBody)
      try trial.equal(error.phase, .receiving, "the phase")
    },
    Check("reports a body that ends before its last chunk as truncated", needs: .truncation) { trial in
      for end in ["5\r\nhello\r\n", "5\r\nhel", "5\r\nhello\r\n0\r\n"] {
        let raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + end
        trial.server.enqueue(.raw(Data(raw.utf8)))
        _ = try await trial.failure(of: try trial.request(), .truncatedBody)
      }
    },
    Check("reports a response that is not HTTP as a bad response", needs: .connections) { trial in
      trial.server.enqueue(.raw(Data("220 mail.example.com ESMTP\r\n".utf8)))
      let error = try await trial.failure(of: try trial.request(), .badResponse)
      try trial.holds(!error.wasNotSent, "the request may have been read")
    },
    Check("does not return an interim response if nothing follows", needs: .connections) { trial in
      trial.server.enqueue(.raw(Data("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".utf8)))
      _ = try await trial.failure(of: try trial.request(), .connectionLost)
    },
  ]
}
