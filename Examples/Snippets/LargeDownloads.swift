import Errand
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
  try await backup.run()

  let shared = ResumableDownload(GetShared(link: link).on(shop), to: file, identity: "backup 7")
  try await shared.run()

  let checked = ResumableDownload(GetBackup(id: 7).on(shop), to: file, digest: .sha256(published))
  try await checked.run()

  let fast = ResumableDownload(GetBackup(id: 7).on(shop), to: file, ranges: 4)
  try await fast.run()

  let bounded = ResumableDownload(GetBackup(id: 7).on(shop), to: file, maximumSize: 2 << 30)
  try await bounded.run()
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
