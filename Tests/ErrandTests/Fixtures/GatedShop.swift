import Errand
import ErrandTesting
import Foundation

/// A shop that returns widget 3 after `open(3)`. A cancelled request fails immediately.
struct GatedShop {
  private typealias Door = (stream: AsyncStream<Never>, continuation: AsyncStream<Never>.Continuation)

  private let doors = Shared<[Int: Door]>([:])
  /// The current and the maximum number of concurrent requests.
  let inside = Shared((now: 0, most: 0))
  let began = Counter()
  let ended = Counter()
  /// The number of tasks taken from `tasks(_:on:)`.
  let taken = Counter()

  /// Creates a server that answers 404 for `missing` IDs.
  func server(missing: Set<Int> = []) -> Server {
    let transport = StubTransport { request in
      let id = Int(request.url.lastPathComponent) ?? 0
      inside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
      began.add()
      defer {
        inside.withLock { $0.now -= 1 }
        ended.add()
      }
      for await _ in door(id).stream {}
      try Task.checkCancellation()
      return missing.contains(id) ? .status(404, for: request) : .json(#"{"id":\#(id),"name":""}"#, for: request)
    }
    return Server(
      "https://shop.test", transport: transport, manager: TaskManager(limits: .unlimited), asDefault: false)
  }

  /// Returns tasks that are created lazily.
  func tasks(_ ids: ClosedRange<Int>, on server: Server) -> some Sequence<Modified<GetWidget>> & SendableMetatype {
    ids.lazy.map { [taken] id in
      taken.add()
      return GetWidget(id: id).on(server)
    }
  }

  func open(_ ids: Int...) { open(ids) }

  func open(_ ids: some Sequence<Int>) {
    for id in ids { door(id).continuation.finish() }
  }

  private func door(_ id: Int) -> Door {
    doors.withLock { doors in
      let door = doors[id] ?? AsyncStream.makeStream()
      doors[id] = door
      return door
    }
  }

  /// Gives other Swift tasks time to run.
  func settle() async {
    await giveWay(50)
  }
}
