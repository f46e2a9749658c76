#if os(Linux)
  import Errand
  import Foundation
  import Glibc

  /// HTTP/1.1 over a new connection for each request, without TLS, chunks or time limits. The guide shows this code.
  struct PlainTransport: Transport {
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
      let head = try Head(of: request)  // 1. refuses invalid requests
      try Task.checkCancellation()
      let socket = PlainSocket()
      return try await withTaskCancellationHandler {
        do {
          try await socket.connect(to: head.origin)  // 2. nothing is sent if this fails
          try await socket.write(head.bytes)
          try await request.body.readChunks { try await socket.write($0) }
          return try await socket.response(to: request)  // 3. the body is read later
        } catch {
          throw Task.isCancelled ? CancellationError() : error  // 4. cancellation takes precedence
        }
      } onCancel: {
        socket.end()
      }
    }
  }

  extension PlainTransport {
    /// The head of a request as it is sent.
    struct Head {
      let origin: Origin
      let bytes: Data

      init(of request: HTTPRequest) throws {
        origin = try request.checkedOrigin()
        guard !origin.isSecure else { throw Self.refusal("this transport has no TLS", nil) }
        var fields = request.headers
        fields.setDefault("\(origin.host):\(origin.port)", for: .host)
        fields.setDefault("close", for: .connection)
        do {
          guard let length = try request.body.length() else { throw Self.refusal("a body needs a length", nil) }
          if length > 0 || [.post, .put].contains(request.method) { fields[.contentLength] = "\(length)" }
        } catch let error where !(error is TaskError) {
          throw Self.refusal("the body cannot be read", error)
        }
        let address = request.url.absoluteString.prefix { $0 != "#" }
        let target = address.drop { $0 != ":" }.dropFirst(3).drop { !"/?".contains($0) }
        let start = "\(request.method) \(target.hasPrefix("/") ? target : "/" + target) HTTP/1.1"
        let lines = [start] + fields.map { "\($0.name): \($0.value)" } + ["", ""]
        bytes = Data(lines.joined(separator: "\r\n").utf8)
      }

      private static func refusal(_ reason: String, _ cause: (any Error)?) -> TaskError {
        let code: TaskError.Code = cause == nil ? .transportUnavailable : .unreadableBody
        return TaskError(code, reason, phase: .preparing, underlying: cause, wasNotSent: true)
      }
    }
  }

  extension PlainSocket {
    /// Returns the response when its head has arrived. Skips interim responses.
    func response(to request: HTTPRequest) async throws -> HTTPResponse {
      var bytes = Data()
      while true {
        guard let end = bytes.firstRange(of: Data("\r\n\r\n".utf8)) else {
          let chunk = try await read()
          guard !chunk.isEmpty else {
            let code: TaskError.Code = bytes.isEmpty ? .connectionLost : .badResponse
            throw TaskError(code, "the connection was closed before the response", phase: .awaitingResponse)
          }
          bytes += chunk
          continue
        }
        let (status, headers) = try Self.parse(bytes[..<end.lowerBound])
        bytes = Data(bytes[end.upperBound...])
        if status.kind == .informational { continue }
        let hasBody = request.method != .head && status != .noContent && status != .notModified
        let length = hasBody ? headers[.contentLength].flatMap { Int($0) } : 0
        let body = PlainBody(self, beginning: bytes, length: length)
        return HTTPResponse(status, url: request.url, headers: headers, version: .http1_1, body: HTTPResponseBody(body))
      }
    }

    private static func parse(_ head: Data) throws -> (HTTPStatus, HTTPHeaders) {
      let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
      let words = lines[0].split(separator: " ", maxSplits: 2)
      var headers = HTTPHeaders()
      for line in lines.dropFirst() {
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw malformed }
        headers.add(parts[1].trimmingCharacters(in: .whitespaces), for: HTTPHeaderName(String(parts[0])))
      }
      guard words.count > 1, words[0].hasPrefix("HTTP/1."), let code = Int(words[1]),
        !headers.contains(.transferEncoding)
      else { throw malformed }
      return (HTTPStatus(code), headers)
    }

    private static var malformed: TaskError {
      TaskError(.badResponse, "the response cannot be read", phase: .awaitingResponse)
    }
  }

  /// The body of a response, read one chunk at a time. The server waits when the socket's buffer is full.
  actor PlainBody: HTTPBodySource {
    private let socket: PlainSocket
    private var beginning: Data
    private var left: Int?

    init(_ socket: PlainSocket, beginning: Data, length: Int?) {
      self.socket = socket
      self.beginning = beginning
      left = length
    }

    func next() async throws -> Data? {
      if left == 0 { return nil }
      var chunk = beginning
      beginning = Data()
      if chunk.isEmpty { chunk = try await received() }
      if chunk.isEmpty, left == nil { return nil }
      guard !chunk.isEmpty else {
        throw TaskError(.truncatedBody, "\(left ?? 0) bytes of the body are missing", phase: .receiving)
      }
      chunk = chunk.prefix(left ?? .max)
      left = left.map { $0 - chunk.count }
      return chunk
    }

    private func received() async throws -> Data {
      try await withTaskCancellationHandler {
        let chunk = try await socket.read()
        try Task.checkCancellation()
        return chunk
      } onCancel: {
        socket.end()
      }
    }

    nonisolated func cancel() { socket.end() }
  }
#endif
