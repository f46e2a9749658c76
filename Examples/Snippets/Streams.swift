import Errand
import Foundation

struct Entry: TaskPayload { let level: String }
struct Price: TaskPayload { let amount: Int }
struct Token: TaskPayload { let text: String }

struct Log: ServerGETTask { let path = "log" }
struct Prices: ServerGETTask { let path = "prices" }
struct Ask: ServerPOSTTask, PayloadUploadingTask {
  let uploadPayload: [String: String]
  let path = "ask"
}

func lines(_ shop: Server) async throws -> ([String], [Entry]) {
  var errors: [String] = []
  var all: [Entry] = []
  let log = try await shop.stream(Log())
  for try await line in log.body.lines() where line.hasPrefix("error") { errors.append(line) }

  let entries = try await shop.stream(Log()).body.jsonLines(of: Entry.self)
  for try await entry in entries { all.append(entry) }
  return (errors, all)
}

func events(_ shop: Server, question: [String: String], show: (Price) -> Void) async throws -> String {
  var text = ""
  for try await event in shop.events(Prices()) where event.name == "price" {
    show(try event.decoded(Price.self))
  }

  for try await token in shop.events(Ask(uploadPayload: question), of: Token.self, until: "[DONE]") {
    text += token.text
  }
  return text
}

struct ListWidgets: GET<[Widget]> {
  let path = "widgets"
}

struct ListOrders: ServerGETTask, PayloadDownloadingTask {
  struct DownloadPayload: Decodable, Sendable {
    let orders: [String]
    let next: String?
  }
  let path = "orders"
}

struct Page: GET<[Widget]> {
  let number: Int
  let path = "widgets"
  var query: [String: Int] { ["page": number] }
}

func listings(_ shop: Server) async throws -> ([Widget], [String]) {
  var all: [Widget] = []
  var orders: [String] = []
  for try await page in ListWidgets().on(shop).pages() { all += page.payload }

  let pages = ListOrders().on(shop).pages { page in page.payload.next.flatMap { URL(string: $0) } }
  for try await page in pages { orders += page.payload.orders }

  let numbered = (1...20).map { Page(number: $0).on(shop) }
  for try await (_, result) in shop.manager.results(of: numbered, limit: 4) { all += try result.get() }
  return (all, orders)
}
