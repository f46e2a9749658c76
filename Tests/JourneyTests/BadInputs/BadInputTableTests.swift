import Errand
import ErrandTesting
import Foundation
import Testing

/// Bad inputs of every kind. Each one throws an error that names the cause and leaves nothing behind.
@Suite(.timeLimit(.minutes(1)))
struct BadInputTableTests {
  private static let all: [BadInput] = [
    BadInput.heads, BadInput.framings, BadInput.compressed, BadInput.statuses, BadInput.redirects, BadInput.payloads,
    BadInput.multiparts, BadInput.streams, BadInput.addresses, BadInput.messages, BadInput.limits, BadInput.encodings,
    BadInput.uploads, BadInput.downloads,
  ].flatMap { $0 }

  /// The first server becomes the default and stays alive, so create one that no test expects to be released.
  private static let first = Server(.none)

  init() { _ = Self.first }

  @Test func `the table contains at least 200 bad inputs with unique names`() {
    #expect(Self.all.count >= 200 && Set(Self.all.map(\.name)).count == Self.all.count)
  }

  @Test(arguments: all) func `each bad input throws the expected error and leaves nothing behind`(input: BadInput)
    async throws
  {
    try await withFolder { folder in
      let mock = try await run(input, in: folder)
      #expect(await eventually { mock.openConnections == 0 }, "a connection outlived the server")
    }
  }

  /// Runs the input on a server that is released afterwards.
  private func run(_ input: BadInput, in folder: URL) async throws -> MockServer {
    let shop = try Shop {
      $0.retryPolicy = .never
      $0.maximumBodySize = 1 << 20
    }
    let world = BadInput.World(shop: shop, folder: folder)
    try Data("old".utf8).write(to: world.old)
    let error = try #require(await #expect(throws: TaskError.self) { try await input.run(world) })
    #expect(error.code == input.code, "\(error.code): \(error)")
    for word in input.words {
      let isSaid = word.split(separator: "|").contains { error.description.contains($0) }
      #expect(isSaid, "\(error) does not contain '\(word)'")
    }
    #expect(error.description.utf8.count < 1000 && !error.description.contains { $0.isNewline }, "\(error)")
    try await checkRemains(of: world)
    return shop.mock
  }

  /// Checks that the folder is unchanged and that nothing is left behind.
  private func checkRemains(of world: BadInput.World) async throws {
    #expect(await eventually { world.shop.isQuiet }, "a slot is still held")
    #expect(try files(in: world.folder) == ["old"])
    #expect(try Data(contentsOf: world.old) == Data("old".utf8))
    #if os(Linux)
      #expect(await eventually { openFiles(below: world.folder.path).isEmpty }, "a file is still open")
    #endif
    // Check that the server still works.
    #expect(try await GetWidget().on(world.shop.server).download() == Widget())
  }

  /// Returns the files below a folder that this process has open.
  private func openFiles(below folder: String) -> [String] {
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return numbers.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
      .filter { $0.hasPrefix(folder) }
  }
}
