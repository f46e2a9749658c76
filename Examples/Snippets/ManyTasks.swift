import Errand

func manyTasks(of shop: Server) async -> ([Int: String], [Int: any Error]) {
  var names: [Int: String] = [:]
  var failures: [Int: any Error] = [:]
  for await (task, result) in shop.manager.results(of: (1...500).map { GetWidget(id: $0) }, limit: 8) {
    switch result {
    case .success(let widget): names[task.id] = widget.name
    case .failure(let error): failures[task.id] = error
    }
  }
  return (names, failures)
}

func manyOnOneServer(_ ids: [Int], of shop: Server) async -> [Int] {
  var missing: [Int] = []
  for await (task, result) in shop.results(of: ids.map { GetWidget(id: $0).timeout(.seconds(5)) }) {
    if case .failure = result { missing.append(task.id) }
  }
  return missing
}

protocol Shelf: Sendable {
  func add(_ widget: Widget) throws
  func add(_ widget: Widget, for task: GetWidget) throws
}

func allOrNothing(of shop: Server) async throws -> [Widget] {
  let widgets = try await shop.manager.downloads(of: (1...20).map { GetWidget(id: $0) }, limit: 4)
  return widgets
}

func untilOneFails(of shop: Server, on storage: any Shelf) async throws {
  try await shop.manager.withResults(of: (1...500).map { GetWidget(id: $0) }, limit: 8) { results in
    for await (_, result) in results {
      try storage.add(result.get())
    }
  }
}

func aMillion(of shop: Server, on storage: any Shelf) async throws {
  let tasks = (1...1_000_000).lazy.map { @Sendable in GetWidget(id: $0) }
  for await (task, result) in shop.manager.results(of: tasks, limit: 16, order: .submitted) {
    try storage.add(result.get(), for: task)
  }
}

func oneByOne(of shop: Server, from file: TextFile, on storage: any Shelf) async throws {
  let tasks = file.lines.compactMap { @Sendable in Int($0) }.map { @Sendable in GetWidget(id: $0) }
  for try await (task, result) in shop.manager.results(of: tasks) {
    try storage.add(result.get(), for: task)
  }
}

/// A file whose lines are streamed.
struct TextFile {
  let lines: AsyncThrowingStream<String, any Error>
}

func withProgress(of shop: Server, show: (String) -> Void) async {
  let results = shop.manager.results(of: (1...200).map { GetWidget(id: $0) }, limit: 8)
  for await _ in results {
    show("\(results.progress)")  // 120 of 200 finished, 8 under way, 1 failed
  }
}

func started(by shop: Server, show: (Widget) -> Void) async {
  let handle = shop.manager.start(GetWidget(id: 7).on(shop))
  handle.pause()
  handle.resume()
  do {
    show(try await handle.value)
  } catch {
    handle.retry()  // starts the task again, now or when the user asks for it
  }
}

func cancelled(at shop: Server) async -> TaskHandleState {
  let search = SearchWidgets(text: "cog").tagged("search")
  let handle = shop.manager.start(search.on(shop))
  await shop.manager.cancel(tag: "search")
  await shop.manager.cancel(type: GetWidget.self)
  await shop.manager.cancelAll()
  return handle.state
}
