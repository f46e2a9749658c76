import Errand
import ErrandTransfers
import Foundation

struct GetBackup: ServerGETTask {
  let id: Int
  var path: String { "backups/\(id)" }
}

struct GetShared: ServerGETTask {
  let link: URL
  var url: URL { link }
}

func largeDownloads(
  _ file: URL, _ link: URL, _ published: String, _ shop: Server, show: @escaping @Sendable (Double?) -> Void
) async throws {
  let backup = ResumableDownload(GetBackup(id: 7).on(shop), to: file)
  let result = try await backup.run()
  print(result.payload.path, result.headers[.lastModified] ?? "")

  let shared = ResumableDownload(GetShared(link: link).on(shop), to: file, identity: "backup 7")
  try await shared.run()

  let digest = try TransferDigest.sha256(published)
  let checked = ResumableDownload(GetBackup(id: 7).on(shop), to: file, digest: digest)
  try await checked.run()

  let fast = ResumableDownload(GetBackup(id: 7).on(shop), to: file, ranges: 4)
  try await fast.run()

  let bounded = ResumableDownload(GetBackup(id: 7).on(shop), to: file, maximumSize: 2 << 30)
  try await bounded.run()
}

func downloadAll(_ ids: [Int], into folder: URL, _ shop: Server) async throws {
  try await withThrowingTaskGroup(of: Void.self) { group in
    for (number, id) in ids.enumerated() {
      if number >= 8 { try await group.next() }
      let file = folder.appendingPathComponent("\(id).zip")
      group.addTask { try await ResumableDownload(GetBackup(id: id).on(shop), to: file).run() }
    }
    try await group.waitForAll()
  }
}

func watched(_ backup: ResumableDownload, show: @escaping @Sendable (Double?) -> Void) async throws {
  let watching = Task {
    for await state in backup.states { show(state.progress?.fraction) }
  }
  backup.pause()  // ends the attempt and closes its connection
  backup.resume()  // continues where it stopped
  backup.cancel()  // run() throws CancellationError; the partial file is kept
  try backup.discard()  // after run() has ended: deletes the partial file
  await watching.value
}
