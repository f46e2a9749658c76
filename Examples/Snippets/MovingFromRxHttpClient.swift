import Errand
import ErrandURLSession
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The code of `Docs/moving/FromRxHttpClient.md`.
enum MovingFromRxHttpClient {
  static func requests(_ url: URL, _ file: URL, _ folder: URL, _ shop: Server) async throws {
    let data = try await URLTask(url, headers: ["Accept": "text/csv"]).send()
    let response = try await URLTask(url).stream()
    for try await chunk in response.body { print(chunk.count) }
    try await URLTask(url).download(to: file)
    let saved = try await URLTask(url).download(into: folder).payload
    let part = try await URLTask(url).range(ByteRange(0..<100)).data()
    let json: JSONValue = try await shop.send(.get("widgets", query: ["q": "cog"]))
    try await shop.send(.post("widgets", body: ["name": "Cog", "tags": ["new"]] as JSONValue))
    print(data.count, saved, part, json["tags"]?[0]?.string ?? "")
  }

  static func cached(_ cacheDirectory: URL, _ shop: Server) async throws {
    let cache = try DiskCache(at: cacheDirectory)
    await shop.update { $0.cache = cache }
    for try await update in GetWidget(id: 7).updates() { print(update.payload) }
    _ = try await GetWidget(id: 7).caching(.standard).send()
    _ = try await GetWidget(id: 7).caching(.cacheOnly).send()
    _ = try await GetWidget(id: 7).caching(.reload).send()
    _ = try await GetWidget(id: 7).caching(.none).send()
    for try await update in GetWidget(id: 7).caching(.standard.withoutStoring).updates() { print(update.payload) }
  }

  static func handle(_ url: URL, _ shop: Server) async throws {
    let call = shop.manager.start(URLTask(url).on(shop))
    for await event in call.events { print(event.moment) }
    call.pause()
    call.resume()
    print(call.state == .running)
    call.cancel()
    print(try await call.value)
    await shop.manager.cancelAll()
  }

  static func transport(_ sessionConfiguration: URLSessionConfiguration) -> Server {
    Server("https://shop.example.com/v1", transport: .urlSession(sessionConfiguration))
  }

  static func errors(_ url: URL) async throws -> Data {
    do {
      return try await URLTask(url).send()
    } catch let error as TaskError where error.code == .badStatus {
      return error.body
    } catch let error as TaskError where error.code == .decodingFailed {
      throw error.underlying ?? error
    }
  }

  static func types(_ response: HTTPResponse) -> [String?] {
    [
      MediaType(fileExtension: "mp3")?.rawValue, MediaType("audio/mpeg").uniformTypeIdentifier,
      MediaType(uniformTypeIdentifier: "public.mp3")?.preferredExtension,
    ]
  }
}
