import Errand

protocol WidgetShelf: Sendable {
  func widget(_ id: Int) -> Widget?
}

func widgetOrNone(from shop: Server, storage: any WidgetShelf, log: LogOutput) async throws -> Widget? {
  do {
    return try await shop.send(GetWidget(id: 7))
  } catch let error as TaskError where error.status == .notFound {
    return nil
  } catch let error as TaskError where error.isOffline {
    return storage.widget(7)
  } catch let error as TaskError {
    log.write("\(error)")
    throw error
  }
}

protocol Outbox: Sendable {
  func keep(_ order: Endpoint<Widget, Void>)
}

func send(
  _ order: Endpoint<Widget, Void>, outbox: any Outbox, check: (Endpoint<Widget, Void>) async throws -> Void
) async throws {
  do {
    try await order.send()
  } catch let error as TaskError where error.wasNotSent {
    outbox.keep(order)  // not sent
  } catch let error as TaskError where error.status == nil && error.isRetryable {
    try await check(order)  // may have been sent
  }
}

extension TaskError.Code {
  static let soldOut = TaskError.Code("soldOut")
}

struct BuyWidget: ServerPOSTTask {
  let id: Int
  var path: String { "widgets/\(id)/buy" }

  func verify(_ response: HTTPResponse) throws {
    guard response.headers["X-Stock"] == "0" else { return }
    throw TaskError(.soldOut, "widget \(id) is sold out", phase: .finishing)
  }
}

func words(for error: TaskError) -> String {
  switch error.code {
  case .soldOut: return "This widget is sold out."
  case .badStatus: return error.problem?.title ?? "The shop responded with \(error.status?.description ?? "an error")."
  case .timedOut, .connectionLost: return "The shop is not responding. Try again."
  case .untrustedServer, .pinMismatch: return "This network cannot be trusted."
  default: return error.isOffline ? "You are offline." : "Something went wrong."
  }
}

func stock(of shop: Server) async throws -> String {
  let head = try await GetWidget(id: 7).accepting(.all).on(shop).run()
  switch head.status.kind {
  case .success: return "in stock"
  case .clientError: return head.status == .gone ? "sold out" : "unknown widget"
  default: return "\(head.status)"  // 503 Service Unavailable
  }
}
