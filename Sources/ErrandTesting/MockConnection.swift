import Errand
import ErrandFoundation

/// The server's side of a connection. Reads and answers requests sequentially on its own thread.
struct MockConnection {
  private let socket: MockSocket
  private let index: Int
  private let host: MockHost
  private var parser = MockRequestParser()
  private var requestCount = 0
  private var input = [UInt8](repeating: 0, count: 32 << 10)

  init(_ socket: MockSocket, index: Int, host: MockHost) {
    self.socket = socket
    self.index = index
    self.host = host
  }

  mutating func serve() {
    while true {
      switch nextEvent() {
      case .head(let head):
        guard serve(head) else { return }
      case .malformed(let reason): return refuse(reason)
      default: return
      }
    }
  }

  /// Answers one request. Returns `false` if the connection must be closed.
  private mutating func serve(_ head: MockRequestHead) -> Bool {
    var request = MockRequest(head, connectionIndex: index, indexOnConnection: requestCount)
    requestCount += 1
    let (source, parameters) = host.script.withLock { $0.source(for: request) }
    request.parameters = parameters
    if case .answer(let answer) = source, answer.isEarly {
      return answerEarly(answer, to: head, request)
    }
    guard readBody(of: &request, head) else { return false }
    host.record(request)
    return switch source {
    case .answer(let answer): send(answer, to: head)
    case .handler(let handler): send(handler(request), to: head)
    }
  }

  private mutating func answerEarly(_ answer: MockAnswer, to head: MockRequestHead, _ request: MockRequest) -> Bool {
    host.record(request)
    if send(answer, to: head) { return skipBody() }
    if case .respond = answer.conduct { socket.drainAfterLastByte() }
    return false
  }

  /// Reads the body. If the body is incomplete, records the request without the rest and returns `false`.
  private mutating func readBody(of request: inout MockRequest, _ head: MockRequestHead) -> Bool {
    if head.expectsContinue, !parser.hasUnreadBytes {
      guard socket.transmit(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)) else { return false }
    }
    while true {
      switch nextEvent() {
      case .body(let bytes): request.append(bytes)
      case .end:
        request.isBodyComplete = true
        request.trailers = parser.trailers
        return true
      case .malformed(let reason):
        host.record(request)
        refuse(reason)
        return false
      default:
        host.record(request)
        return false
      }
    }
  }

  /// Reads and discards the body of a request that has already been answered. Returns `false` if the body is
  /// incomplete.
  private mutating func skipBody() -> Bool {
    while true {
      switch nextEvent() {
      case .body: continue
      case .end: return true
      default: return false
      }
    }
  }

  /// Reads until there is an event. Returns `.incomplete` if the connection was closed.
  private mutating func nextEvent() -> MockRequestParser.Event {
    while true {
      let event = parser.next()
      guard event == .incomplete else { return event }
      let count = input.withUnsafeMutableBytes { socket.receive(into: $0) }
      guard count > 0 else { return .incomplete }
      parser.append(input[..<count])
    }
  }

  private func refuse(_ reason: String) {
    let answer = MockAnswer.text("Invalid request: \(reason).", status: .badRequest).closing()
    _ = send(answer, to: MockRequestHead(method: .get, target: ""))
    socket.drainAfterLastByte()
  }

  private func send(_ answer: MockAnswer, to head: MockRequestHead) -> Bool {
    if answer.headDelay > .zero, !socket.pause(for: answer.headDelay) { return false }
    switch answer.conduct {
    case .respond(let content): return respond(answer, content, to: head) && !answer.endsConnection(after: head)
    case .raw(let bytes): _ = socket.transmit(bytes)
    case .reset: socket.resetOnClose()
    case .hang: socket.drain()
    case .drop: break
    }
    return false
  }

  /// Sends a response in as few writes as its delays allow. Returns `false` if the client disconnected.
  private func respond(_ answer: MockAnswer, _ content: MockAnswer.Content, to head: MockRequestHead) -> Bool {
    var output = answer.head(of: content)
    var delay = answer.bodyDelay
    for piece in answer.pieces(of: content, method: head.method) {
      if delay > .zero {
        guard transmit(output), socket.pause(for: delay) else { return false }
        output = Data()
      }
      output.append(piece)
      if output.count >= 64 << 10 {
        guard transmit(output) else { return false }
        output = Data()
      }
      delay = answer.pace?.pause ?? .zero
    }
    return transmit(output)
  }

  private func transmit(_ output: Data) -> Bool {
    guard socket.transmit(output) else { return false }
    host.bytesSent.withLock { $0 += output.count }
    return true
  }
}
