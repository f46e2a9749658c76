import Errand
import Foundation

func downloads(from url: URL, to file: URL) async throws -> Int {
  var bytes = 0
  let export = URLTask(url)
  try await export.download(to: file)

  let response = try await export.stream()
  for try await chunk in response.body {
    bytes += chunk.count
  }
  return bytes
}

func page(at url: URL, by shop: Server) async throws -> Data {
  let page = try await shop.data(URLTask(url))
  return page
}
