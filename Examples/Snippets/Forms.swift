import Errand
import Foundation

struct SignUp: ServerPOSTTask, FormUploadingTask {
  struct Account: Encodable, Sendable {
    var name: String
    var tags: [String]
    var referrer: String?
  }
  let uploadPayload: Account  // name=Ada+L&tags=a&tags=b
  let path = "accounts"
}

struct SignOut: ServerPOSTTask {
  let path = "logout"
  func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { .form(["everywhere": "true"]) }
}

struct Filter: ServerPOSTTask, FormUploadingTask {
  let uploadPayload: [String: [String]]
  let encoder = FormEncoder(FormStyle(lists: .brackets))
}

struct AddPhoto: ServerPOSTTask, MultipartUploadingTask {
  let title: String
  let photo: URL
  var uploadForm: MultipartForm { MultipartForm([.text("title", title), .file("photo", photo)]) }
  let path = "photos"
}

func values(in response: HTTPResponse) async throws -> [String: Data] {
  var values: [String: Data] = [:]
  for try await part in try response.parts() {
    guard let name = part.disposition?.name else { continue }
    values[name] = try await part.body.collect()
  }
  return values
}

func pictures(of response: HTTPResponse) throws -> MultipartParts {
  let parts = try response.parts(limits: MultipartLimits(parts: .max, bodySize: 4 << 20))
  return parts
}

func names(_ response: HTTPResponse) -> [String?] {
  let name = response.suggestedFileName  // from Content-Disposition, safe as a file name
  let type = MediaType(fileExtension: "png")  // image/png
  let ending = response.mediaType?.preferredExtension  // "pdf"
  let identifier = response.mediaType?.uniformTypeIdentifier  // "com.adobe.pdf"
  let movie = MediaType(uniformTypeIdentifier: "com.apple.quicktime-movie")  // video/quicktime
  return [name, type?.rawValue, ending, identifier, movie?.rawValue]
}

struct Export: ServerGETTask { let path = "export" }

func exchange(_ title: String, _ photo: URL, _ file: URL, _ shop: Server, show: @escaping @Sendable (Double?) -> Void)
  async throws
{
  try await AddPhoto(title: title, photo: photo).progress { show($0.fraction) }.on(shop).send()
  try await Export().on(shop).download(to: file) { progress in
    show(progress.fraction)
    print(progress.completed, progress.rate ?? 0, progress.remaining ?? .zero)
  }
}
