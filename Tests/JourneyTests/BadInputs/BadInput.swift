import Errand
import ErrandTesting
import Foundation
import Testing

/// An input that must fail and the error it must throw.
struct BadInput: Sendable, CustomTestStringConvertible {
  let name: String
  /// The expected error code.
  let code: TaskError.Code
  /// Words in the error's description that name the cause. A vertical bar separates alternatives, because the words
  /// depend on the libcurl version.
  let words: [String]
  /// The call that must throw.
  let run: @Sendable (World) async throws -> Void

  init(
    _ name: String, _ code: TaskError.Code, _ words: String..., run: @escaping @Sendable (World) async throws -> Void
  ) {
    self.init(name, code, words: words, run: run)
  }

  var testDescription: String { name }

  /// The environment of a call: a shop and a folder with the file `old`.
  struct World: Sendable {
    let shop: Shop
    let folder: URL

    var old: URL { folder.appendingPathComponent("old") }
    var missing: URL { folder.appendingPathComponent("missing") }

    func answering(_ answer: MockAnswer) -> World {
      shop.mock.enqueue(answer)
      return self
    }

    func on(_ task: some ServerTask) -> Modified<some ServerTask> { task.on(shop.server) }
  }

  /// Downloads a response that consists of these raw bytes.
  static func answer(_ name: String, _ bytes: String, _ code: TaskError.Code, _ words: String...) -> BadInput {
    BadInput(name, code, words: words) { try await $0.answering(.raw(Data(bytes.utf8))).download() }
  }

  init(
    _ name: String, _ code: TaskError.Code, words: [String], run: @escaping @Sendable (World) async throws -> Void
  ) {
    (self.name, self.code, self.words, self.run) = (name, code, words, run)
  }

  /// Reads a 200 response whose body has this type with `read`.
  static func body(
    _ name: String, _ text: String, _ type: MediaType, _ code: TaskError.Code, _ words: String...,
    read: @escaping @Sendable (HTTPResponse) async throws -> Void
  ) -> BadInput {
    BadInput(name, code, words: words) { world in
      let response = try await world.answering(.data(Data(text.utf8), type: type)).on(PlainTask()).stream()
      try await read(response)
    }
  }

  /// Decodes the body of a 200 response as a payload.
  static func payload<Payload: Decodable & Sendable>(
    _ name: String, _ text: String, as type: Payload.Type, by decoder: any PayloadDecoder = JSONDecoder(),
    _ words: String...
  ) -> BadInput {
    BadInput(name, .decodingFailed, words: words) { world in
      let task = Endpoint<Void, Payload>.get("payload").decoder(decoder).on(world.answering(.json(text)).shop.server)
      _ = try await task.download()
    }
  }

  /// Runs a task that fails before it sends anything.
  static func task(_ name: String, _ task: some ServerTask, _ code: TaskError.Code, _ words: String...) -> BadInput {
    BadInput(name, code, words: words) { try await task.on($0.shop.server).run() }
  }
}

extension BadInput.World {
  /// Downloads the next answer.
  func download() async throws { _ = try await PlainTask().on(shop.server).downloadData() }
}
