import Errand
import ErrandURLSession
import Foundation

func started(_ title: String, _ photo: URL, _ file: URL, _ shop: Server, show: @escaping @Sendable (Double?) -> Void)
  async throws -> (URL, Progress)
{
  let export = shop.manager.start(Export().on(shop), downloadingTo: file)
  for await progress in export.progress { show(progress.fraction) }
  let response = try await export.value

  let upload = shop.manager.start(AddPhoto(title: title, photo: photo).on(shop))
  let shown = Progress(following: upload.progress, .up)
  shown.cancellationHandler = { upload.cancel() }
  return (response.payload, shown)
}

func parts(_ folder: URL, _ file: URL, _ shop: Server) async throws -> (URL, Data) {
  let report = try await shop.download(Export(), into: folder).payload  // folder/report.pdf

  let head = try await Export().on(shop).range(.first(1024)).data()
  let tail = try await Export().on(shop).range(ByteRange(1024...)).download(to: file)
  print(tail.response.contentRange?.length ?? 0)  // the length of the entire body
  return (report, head)
}
