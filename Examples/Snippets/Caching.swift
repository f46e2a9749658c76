import Errand
import Foundation

func cached(_ shop: Server) async throws {
  await shop.update { $0.cache = MemoryCache() }
  let first = try await shop.response(GetWidget(id: 7))
  let second = try await shop.response(GetWidget(id: 7))
  print(second.cacheStatus?.isHit == true)  // true
  _ = first
}

func cachedOnDisk(_ shop: Server, _ folder: URL) async throws {
  let cache = try DiskCache(at: folder, sizeLimit: 1 << 30, ageLimit: .seconds(30 * 86_400))
  await shop.update { $0.cache = cache }
}

func policies(_ shop: Server) async throws -> [Widget] {
  let newest = try await GetWidget(id: 7).caching(.reload).on(shop).send()
  let known = try await GetWidget(id: 7).caching(.cacheOnly).on(shop).send()
  let either = try await GetWidget(id: 7).caching(.networkFirst(limit: .seconds(2))).on(shop).send()
  return [newest, known, either]
}

func updates(_ shop: Server, show: (Widget) -> Void) async throws {
  for try await update in GetWidget(id: 7).on(shop).updates() {
    show(update.payload)
  }
}

struct Catalogue: FileBackedTask {
  let path = "catalogue.json"
  let file: URL
}

func refreshed(_ folder: URL) async throws -> Data {
  let catalogue = Catalogue(file: folder.appendingPathComponent("catalogue.json"))
  let answer = try await catalogue.refresh()
  print(answer.isUnchanged ? "still good" : "downloaded")
  let data = try await catalogue.contents()  // from the file if the server can't be reached
  return data
}

func preloaded(_ shop: Server, _ bundled: URL) async throws -> Widget {
  let shown = try await GetWidget(id: 7).preloaded(from: bundled).caching(.networkFirst(limit: .seconds(2))).on(shop)
    .send()
  return shown
}

func coalesced(_ shop: Server) async {
  await shop.update { $0.coalescesRequests = true }
}

func signedIn(_ shop: Server, _ signIn: Authentication, as user: String) async {
  await shop.update { $0.authentication = signIn.forAccount(user) }
}
