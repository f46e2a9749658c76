import Errand
import ErrandFoundation

/// The recorded requests, in order, and which of them have been replayed.
struct ReplayTape: Sendable {
  enum Answer: Sendable {
    /// The entry, its number (starting at 1), and its index in the archive.
    case entry(HTTPArchive.Entry, Int, place: Int)
    /// No response, with the reason.
    case none(String)
  }

  private struct Track: Sendable {
    var request: ReplayRequest
    let entry: HTTPArchive.Entry
    let place: Int
    var wasPlayed = false
  }

  private var tracks: [Track]
  private let options: ReplayOptions
  /// The redaction applied to the requests in `tracks`.
  private var redaction: Redaction
  /// The number of learned names when `tracks` was redacted.
  private var learned = LearnedSecrets.count

  init(_ archive: HTTPArchive, _ options: ReplayOptions) {
    let redaction = options.redaction ?? .standard
    tracks = archive.entries.enumerated().filter(\.element.wasSent).map { place, entry in
      Track(request: ReplayRequest(entry, redaction: redaction), entry: entry, place: place)
    }
    self.options = options
    self.redaction = redaction
  }

  var unplayed: [HTTPArchive.Entry] { tracks.filter { !$0.wasPlayed }.map(\.entry) }

  mutating func rewind() {
    for index in tracks.indices { tracks[index].wasPlayed = false }
  }

  /// Finds the response to a redacted request and marks it as replayed. Applies `redaction` to the recorded requests.
  mutating func answer(to request: ReplayRequest, hiding redaction: Redaction) -> Answer {
    let learned = LearnedSecrets.count
    if learned != self.learned || !redaction.hidesSame(as: self.redaction) {
      (self.redaction, self.learned) = (redaction, learned)
      for index in tracks.indices {
        tracks[index].request = ReplayRequest(tracks[index].entry, redaction: redaction)
      }
    }
    let choice = options.order == .asRecorded ? next(request) : first(request)
    switch choice {
    case .success(let index):
      tracks[index].wasPlayed = true
      return .entry(tracks[index].entry, index + 1, place: tracks[index].place)
    case .failure(let refusal): return .none(refusal.reason)
    }
  }

  private struct Refusal: Error {
    let reason: String
  }

  private func next(_ request: ReplayRequest) -> Result<Int, Refusal> {
    guard let index = tracks.firstIndex(where: { !$0.wasPlayed }) else {
      return .failure(Refusal(reason: "all \(tracks.count) recorded requests have been replayed"))
    }
    let differences = request.differences(from: tracks[index].request, in: options.matching)
    guard !differences.isEmpty else { return .success(index) }
    return .failure(
      Refusal(reason: "the next recorded request is \(named(index)), which differs in \(Self.list(differences))"))
  }

  /// Returns the first matching track that has not been replayed, or the last matching track if all have been.
  private func first(_ request: ReplayRequest) -> Result<Int, Refusal> {
    let matching = tracks.indices.filter {
      request.differences(from: tracks[$0].request, in: options.matching).isEmpty
    }
    if let index = matching.first(where: { !tracks[$0].wasPlayed }) { return .success(index) }
    guard let last = matching.last else { return .failure(Refusal(reason: nearest(request))) }
    if options.whenPlayed == .last { return .success(last) }
    return .failure(
      Refusal(
        reason:
          "all \(matching.count) recorded responses to this request have been replayed: set whenPlayed to .last to repeat the last one"
      ))
  }

  private func nearest(_ request: ReplayRequest) -> String {
    let candidates = tracks.indices.map { index in
      let recorded = tracks[index].request
      return (index, request.differences(from: recorded, in: options.matching), request.likeness(to: recorded))
    }
    // Prefer the fewest differences, then the longest common URL prefix, then the first track.
    let best = candidates.min { ($0.1.count, -$0.2) < ($1.1.count, -$1.2) }
    guard let (index, differences, _) = best else {
      return "no response was recorded: the recording has no requests"
    }
    return
      "no response was recorded: the nearest request is \(named(index)), which differs in \(Self.list(differences))"
  }

  private func named(_ index: Int) -> String {
    "\(tracks[index].request.description.shortened) (\(index + 1) of \(tracks.count))"
  }

  private static func list(_ differences: [String]) -> String { differences.joined(separator: "; ") }
}

extension ReplayRequest {
  fileprivate init(_ entry: HTTPArchive.Entry, redaction: Redaction) {
    let request = entry.request
    self.init(
      HTTPMethod(request.method), request.url, headers: request.headers, body: entry.comparedBody(redaction),
      redaction: redaction)
  }
}

extension HTTPArchive.Entry {
  /// Whether the entry shows how a server responds. `false` for a cache hit or a cancelled request.
  fileprivate var wasSent: Bool { attempt != 0 && !(response.status == 0 && failure == "cancelled") }

  fileprivate func comparedBody(_ redaction: Redaction) -> ReplayRequest.Body {
    guard let post = request.postData else { return .bytes(Data()) }
    if post.text.isEmpty, let comment = post.comment { return .unknown(comment) }
    guard let data = HTTPArchive.Content.data(post.text, post.encoding) else { return .unknown("invalid Base64") }
    let type = post.mimeType.isEmpty ? nil : MediaType(post.mimeType)
    return ReplayRequest.Body(data, type: type, redaction: redaction)
  }
}
