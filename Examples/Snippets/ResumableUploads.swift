import Errand
import ErrandTransfers
import Foundation

struct AddVideo: ServerPOSTTask {
  var path: String { "videos" }
}

func resumableUpload(_ video: URL, _ shop: Server) async throws -> HTTPStatus {
  let upload = ResumableUpload(of: video, with: AddVideo().on(shop), by: .tus)
  let answer = try await upload.run()
  let place = upload.location
  return place == nil ? .noContent : answer.status
}

func repeatableUpload(_ video: URL, _ shop: Server) -> ResumableUpload {
  let upload = ResumableUpload(of: video, with: AddVideo().on(shop).idempotency(.key), by: .tus)
  return upload
}

func watched(_ upload: ResumableUpload, show: @escaping @Sendable (Double?) -> Void) async throws {
  let watching = Task {
    for await state in upload.states { show(state.progress?.fraction) }
  }
  upload.pause()  // cancels the request in progress
  upload.resume()  // continues at the server's offset
  upload.cancel()  // run() throws CancellationError; the server keeps the data it has
  try await upload.discard()  // after run() has ended: deletes the upload on the server
  await watching.value
}

actor DayLog {
  private var data = Data()

  func bytes(from offset: Int64, atMost count: Int) -> Data { Data(data.dropFirst(Int(offset)).prefix(count)) }
}

func uploadOfBytes(_ log: DayLog, _ shop: Server) async throws {
  let upload = ResumableUpload(named: "day.log", with: AddVideo().on(shop), by: .google) { offset, count in
    await log.bytes(from: offset, atMost: count)
  }
  try await upload.run()
}

func uploadWithChecksums(_ video: URL, _ shop: Server) -> ResumableUpload {
  let upload = ResumableUpload(of: video, with: AddVideo().on(shop), by: TusUpload(checksums: .whereOffered))
  return upload
}
