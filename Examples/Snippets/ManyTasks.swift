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

func manyTasksThatHaveEnded(of shop: Server) async -> Int {
  await shop.manager.withResults(of: (1...500).map { GetWidget(id: $0) }, limit: 8) { results in
    await results.reduce(0) { $0 + ($1.result.isSuccess ? 1 : 0) }
  }
}

extension Result {
  fileprivate var isSuccess: Bool {
    if case .success = self { true } else { false }
  }
}
