import Errand
import ErrandTesting
import ErrandTransfers

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension EmbeddedShops {
  var streamSteps: [TourStep] { [multipart, events, download] }

  private var multipart: TourStep {
    TourStep(
      "A form with a file is uploaded, with progress",
      #"""
      let form = MultipartForm([.text("title", "Widget 7"), .data("photo", photo, fileName: "7.png")])
      let answer = try await AddPhoto(uploadForm: form).progress { meter.yield($0) }.on(studio).send()
      """#
    ) { page in
      let mock = try MockServer()
      mock.route(.post, "/photos") { request in .status(.created, headers: ["X-Received": "\(request.body.count)"]) }
      let studio = Server(mock.url, asDefault: false)
      let photo = Data(repeating: 7, count: 4 << 20)
      let (reported, meter) = AsyncStream.makeStream(of: TransferProgress.self)
      let form = MultipartForm([.text("title", "Widget 7"), .data("photo", photo, fileName: "7.png")])
      let answer = try await AddPhoto(uploadForm: form).progress { meter.yield($0) }.on(studio).send()
      meter.finish()
      var parts: [Int] = []
      for await progress in reported where progress.direction == .up {
        parts.append(Int((progress.fraction ?? 0) * 100))
        page.progress(parts.last ?? 0, of: 100, " % of \((progress.total ?? 0) >> 20) MiB")
      }
      page.say("\(answer.status), \(answer.headers["X-Received"] ?? "no") bytes received")
      try check(parts == parts.sorted() && parts.last == 100, "the progress was \(parts)")
      try check(Int(answer.headers["X-Received"] ?? "").map { $0 > photo.count } == true, "the upload was incomplete")
    }
  }

  private var events: TourStep {
    TourStep(
      "An event stream resumes where the connection was cut",
      #"""
      for try await event in WatchPrices().on(ticker).events() {
        page.say("\(event.id): \(event.data)")
      }
      """#
    ) { page in
      let mock = try MockServer()
      let first = "retry: 20\n\nid: 1\ndata: widget 7 costs 7\n\nid: 2\ndata: widget 7 co"
      mock.enqueue(
        .truncated(body: Data((first + "sts 6\n\n").utf8), after: first.utf8.count, type: "text/event-stream"))
      mock.enqueue(.chunked([Data("id: 2\ndata: widget 7 costs 6\n\n".utf8)], type: "text/event-stream"))
      mock.enqueue(.status(.noContent))
      let ticker = Server(mock.url, asDefault: false)
      var count = 0
      for try await event in WatchPrices().on(ticker).events() {
        page.say("\(event.id): \(event.data)")
        count += 1
      }
      let asked = mock.requests.map { $0.headers["Last-Event-ID"] ?? "the first" }
      page.say("\(asked.count) connections, with Last-Event-ID: \(asked.joined(separator: ", "))")
      try check(count == 2 && asked == ["the first", "1", "2"], "\(count) events, requested after \(asked)")
    }
  }

  private var download: TourStep {
    TourStep(
      "A download that is cut twice finishes without downloading a byte twice",
      #"""
      let backup = ResumableDownload(GetBackup().on(archive), to: file)
      try await backup.run()
      """#
    ) { page in
      let data = Data((0..<(4 << 20)).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) })
      let mock = try MockServer()
      mock.route(.get, "/backup") { request in
        let first = request.headers["Range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
        return Self.cut(data, from: first, after: 1_500_000)
      }
      let archive = Server(mock.url, asDefault: false)
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-tour-\(UUID().uuidString)")
      let file = folder.appendingPathComponent("backup")
      defer { try? FileManager.default.removeItem(at: folder) }  // best effort: the folder is temporary
      let backup = ResumableDownload(GetBackup().on(archive), to: file)
      let states = backup.states
      let watching = Task {
        for await progress in states.compactMap(\.progress) {
          page.progress(Int((progress.fraction ?? 0) * 100), of: 100, " % of 4 MiB, attempt \(progress.attempt)")
        }
      }
      try await backup.run()
      await watching.value
      let asked = mock.requests.map { $0.headers["Range"] ?? "the whole" }
      page.say("requested \(asked.joined(separator: ", then "))")
      try check(asked == ["the whole", "bytes=1500000-", "bytes=3000000-"], "requested \(asked)")
      try check(try Data(contentsOf: file) == data, "the file has the wrong content")
    }
  }

  /// Returns the rest of a file as a response whose connection breaks after `count` bytes.
  private static func cut(_ data: Data, from first: Int, after count: Int) -> MockAnswer {
    let rest = data.dropFirst(first)
    let status =
      first == 0 ? "200 OK" : "206 Partial Content\r\nContent-Range: bytes \(first)-\(data.count - 1)/\(data.count)"
    let head = "HTTP/1.1 \(status)\r\nETag: \"1\"\r\nContent-Length: \(rest.count)\r\nConnection: close\r\n\r\n"
    return .raw(Data(head.utf8) + rest.prefix(count))
  }
}
