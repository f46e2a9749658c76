import Errand
import ErrandFoundation

extension HTTPArchive.Entry {
  /// Returns the entry without the values that `redaction` hides. Hidden values stay hidden.
  func redacted(by redaction: Redaction) -> HTTPArchive.Entry {
    var entry = self
    entry.request.url = redaction(address: request.url)
    entry.request.headers = redaction(request.headers)
    entry.request.queryString = redaction.hiding(request.queryString)
    if let post = request.postData, post.encoding == nil {
      entry.request.postData?.text = redaction.hiding(post.text, post.mimeType)
    }
    entry.response.headers = redaction(response.headers)
    entry.response.trailers = response.trailers.map { redaction($0) }
    entry.response.redirectURL = redaction(address: response.redirectURL)
    if let text = response.content.text, response.content.encoding == nil {
      entry.response.content.text = redaction.hiding(text, response.content.mimeType)
    }
    entry.failure = failure.map { redaction(text: $0) }
    entry.timeline = timeline.map { $0.map { redaction(text: $0) } }
    return entry
  }
}

extension Redaction {
  fileprivate func hiding(_ body: String, _ type: String) -> String {
    recorded(Data(body.utf8), type: type.isEmpty ? nil : MediaType(type), limit: .max).text ?? body
  }

  fileprivate func hiding(_ pairs: [HTTPArchive.Pair]) -> [HTTPArchive.Pair] {
    pairs.map { isSecret($0.name) ? HTTPArchive.Pair(name: $0.name, value: Self.mark) : $0 }
  }
}
