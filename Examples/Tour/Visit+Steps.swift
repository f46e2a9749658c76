import Errand

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Visit {
  var steps: [TourStep] { [get, echo, window, stream, recording] }

  private var get: TourStep {
    TourStep(
      "GET a URL",
      """
      let answer = try await URLTask(url).response()
      """
    ) { page in
      let answer = try await URLTask(url).response()
      let version = answer.response.version?.rawValue ?? "no HTTP"
      page.say("\(answer.status) over \(version), \(answer.data.count) bytes, \(answer.metrics.elapsed.inWords)")
      for attempt in answer.attempts {
        guard let timings = attempt.timings else { continue }
        page.say("connected after \(timings.connect.inWords), first byte after \(timings.firstByte.inWords)")
      }
    }
  }

  private var echo: TourStep {
    TourStep(
      "An echo shows the exchange, with secrets hidden",
      """
      try await URLTask(url).echo().run()
      """
    ) { page in
      let (echoes, put) = AsyncStream.makeStream(of: String.self)
      await server.update { $0.log = LogOutput { put.yield($0) } }
      try await URLTask(url).echo().run()
      put.finish()
      await server.update { $0.log = .standardError }
      let text = await echoes.reduce(into: "") { $0 += $1 }
      page.quote(text)
      try check(text.contains("GET "), "nothing was echoed")
    }
  }

  private var window: TourStep {
    TourStep(
      "Twenty tasks, four at a time",
      """
      let tasks = Array(repeating: URLTask(url), count: 20)
      for await (_, result) in server.manager.results(of: tasks, limit: 4) {
        …
      }
      """
    ) { page in
      var count = 0
      let tasks = Array(repeating: URLTask(url), count: 20)
      for await (_, result) in server.manager.results(of: tasks, limit: 4) {
        _ = try result.get()
        count += 1
        page.progress(count, of: tasks.count, "  \(server.manager.runningCount) under way")
      }
      try check(count == 20, "only \(count) arrived")
    }
  }

  private var stream: TourStep {
    TourStep(
      "A body is streamed and never held in memory as a whole",
      """
      let response = try await URLTask(url).stream()
      for try await chunk in response.body {
        …
      }
      """
    ) { page in
      var bytes = 0
      var chunks = 0
      let response = try await URLTask(url).stream()
      for try await chunk in response.body {
        bytes += chunk.count
        chunks += 1
      }
      page.say("\(bytes) bytes in \(chunks) \(chunks == 1 ? "chunk" : "chunks")")
    }
  }

  private var recording: TourStep {
    TourStep(
      "A recording stores every exchange in a file",
      """
      let folder = try await server.manager.recordTaskPath()
      try await URLTask(url).run()
      await server.manager.endTaskPathRecording()
      """
    ) { page in
      let folder = try await server.manager.recordTaskPath()
      try await URLTask(url).run()
      await server.manager.endTaskPathRecording()
      page.say(folder.path)
      let files = try recordings(in: folder)
      for file in files { page.line("      \(file)") }
      try check(files.count == 1, "the recordings are \(files)")
    }
  }
}
