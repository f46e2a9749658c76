import Errand
import Foundation

struct AddVideo: ServerPOSTTask {
  var path: String { "videos" }
}

func resumableUpload(_ video: URL, _ shop: Server) async throws -> HTTPStatus {
  let upload = ResumableUpload(of: video, with: AddVideo().on(shop), by: .tus)
  let answer = try await upload.run()
  return answer.status
}

func watched(_ upload: ResumableUpload, show: @escaping @Sendable (Double?) -> Void) async throws {
  let watching = Task {
    for await state in upload.states { show(state.progress?.fraction) }
  }
  upload.pause()  // ends the request under way
  upload.resume()  // asks the server, and goes on from there
  upload.cancel()  // run() throws CancellationError; the server keeps what it has
  try await upload.discard()  // has the server forget an upload that does not run
  await watching.value
}
