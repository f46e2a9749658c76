import ErrandFoundation

/// The recorded requests in order, and which of them were played. Pure.
struct ReplayTape: Sendable {
  /// The answer to a request.
  enum Answer: Sendable {
    /// This entry, of the number given, counted from 1, and at this index of the archive.
    case entry(HTTPArchive.Entry, Int, place: Int)
    /// None, for the reason given.
    case none(String)
  }

  private struct Track: Sendable {
    var request: ReplayRequest
    let entry: HTTPArchive.Entry
    /// Its index in the archive.
    let place: Int
    var wasPlayed = false
  }

  private var tracks: [Track]
  private let options: ReplayOptions
  /// The secrets that are hidden in the requests of the tracks.
  private var redaction: Redaction
  /// The number of names that were learned by then.
  private var learned = LearnedSecrets.count

  init(_ archive: HTTPArchive, _ options: ReplayOptions) {
    let redaction = options.redaction ?? .standard
    tracks = archive.entries.enumerated().filter(\.element.wasSent).map { place, entry in
      Track(request: ReplayRequest(entry, redaction: redaction), entry: entry, place: place)
    }
    self.options = options
    self.redaction = redaction
  }

  /// The entries that were not played yet, in order.
  var unplayed: [HTTPArchive.Entry] { tracks.filter { !$0.wasPlayed }.map(\.entry) }

  /// Begins anew.
  mutating func rewind() {
    for index in tracks.indices { tracks[index].wasPlayed = false }
  }

  /// The answer to a request, which is played by this.
  ///
  /// - Parameters:
  ///   - request: The request, secrets hidden.
  ///   - redaction: The secrets that are hidden in it, and with it in the recorded ones.
  /// - Returns: The answer.
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

  /// The next one, where it matches.
  private func next(_ request: ReplayRequest) -> Result<Int, Refusal> {
    guard let index = tracks.firstIndex(where: { !$0.wasPlayed }) else {
      return .failure(Refusal(reason: "all \(tracks.count) recorded requests were played"))
    }
    let differences = request.differences(from: tracks[index].request, in: options.matching)
    guard !differences.isEmpty else { return .success(index) }
    return .failure(
      Refusal(reason: "the next recorded request is \(named(index)), which differs in \(Self.list(differences))"))
  }

  /// The first that matches and was not played, or the last that matches.
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
          "the recorded responses to it were all played, \(matching.count) of them; whenPlayed: .last plays the last one again"
      ))
  }

  private func nearest(_ request: ReplayRequest) -> String {
    let candidates = tracks.indices.map { index in
      let recorded = tracks[index].request
      return (index, request.differences(from: recorded, in: options.matching), request.likeness(to: recorded))
    }
    // The fewest differences, then the URL that is most alike; the first of equals.
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
  /// A recorded request.
  fileprivate init(_ entry: HTTPArchive.Entry, redaction: Redaction) {
    let request = entry.request
    let headers = HTTPHeaders(request.headers.map { .init(HTTPHeaderName($0.name), $0.value) })
    self.init(
      HTTPMethod(request.method), request.url, headers: headers, body: entry.comparedBody(redaction),
      redaction: redaction)
  }
}

extension HTTPArchive.Entry {
  /// False for a call that a cache answered, and for a request that was cancelled: neither tells what a server would say.
  fileprivate var wasSent: Bool { attempt != 0 && !(response.status == 0 && failure == "cancelled") }

  fileprivate func comparedBody(_ redaction: Redaction) -> ReplayRequest.Body {
    guard let post = request.postData else { return .bytes(Data()) }
    if post.text.isEmpty, let comment = post.comment { return .unknown(comment) }
    guard let data = HTTPArchive.Content.data(post.text, post.encoding) else { return .unknown("no Base64") }
    return ReplayRequest.Body(data, type: MediaType(post.mimeType), redaction: redaction)
  }
}
