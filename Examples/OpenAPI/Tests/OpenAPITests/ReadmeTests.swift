import Errand
import ErrandOpenAPI
import Foundation
import OpenAPIRuntime
import Testing

/// Stands in for the generated client.
private struct Client {
  let serverURL: URL
  let transport: any ClientTransport
}

/// Stands in for the generated servers.
private enum Servers {
  enum Server1 {
    static func url() throws -> URL { try #require(URL(string: "/v1")) }
  }
}

struct ReadmeTests {
  private func makeClient() throws -> Client {
    let shop = Server("https://shop.example.com/v1")
    let client = Client(serverURL: try Servers.Server1.url(), transport: ErrandTransport(shop))
    return client
  }

  @Test func `the README's code is compiled here`() throws {
    #expect(try makeClient().serverURL.path() == "/v1")
    let tests = URL(fileURLWithPath: #filePath)
    let readme = try String(
      contentsOf: URL(fileURLWithPath: "../../README.md", relativeTo: tests).standardizedFileURL, encoding: .utf8)
    let source = try String(contentsOf: tests, encoding: .utf8).components(separatedBy: "\n")
      .map { $0.trimmingCharacters(in: .whitespaces) }
    let code = try #require(readme.components(separatedBy: "```swift\n").dropFirst().first)
    let lines = try #require(code.components(separatedBy: "\n```").first).components(separatedBy: "\n")
    #expect(lines.count == 5 && lines.allSatisfy { source.contains($0) })
  }
}
