import Errand
import ErrandInspection

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `swift run errand-tour`: the entire product in a few seconds, with built-in shops.
@main
struct ErrandTour {
  static func main() async {
    let page = Page.standardOutput
    do {
      switch try TourOptions(Array(CommandLine.arguments.dropFirst())) {
      case .help: page.line(TourOptions.usage)
      case .embedded(let file): try await walk(writing: file, on: page)
      case .url(let url): try await Visit(url).tour.walk(on: page)
      }
    } catch let failure as TourFailure {
      page.complain(failure.description)
      page.leave(1)
    } catch let misuse as TourMisuse {
      page.complain("\(misuse.description)\n\n\(TourOptions.usage)")
      page.leave(2)
    } catch let error as TaskError where error.code == .unknownRemote {
      page.complain(error.description)
      page.leave(2)
    } catch {
      page.complain("\(error)")
      page.leave(1)
    }
  }

  /// Runs the entire tour, writes a page with its calls to `file`, and writes a HAR file next to the page.
  private static func walk(writing file: URL?, on page: Page) async throws {
    let place = file.map { PagePlace(file: $0) }
    let shops = try EmbeddedShops(writing: place)
    guard let place else { return try await shops.tour.walk(on: page) }
    let (log, calls) = (try HTTPLog(), RecordedCalls())
    await shops.shop.update { $0.recorders = [log, calls] }
    try await shops.tour.walk(on: page)
    await log.finish()
    let texts = try log.save(to: place.file)
    try calls.archive.write(to: place.archive)
    page.line("\(calls.calls.count) calls are in \(place.words), and as text files in \(texts.path).\n")
  }
}

/// The locations of the page with the tour's calls and of the HAR file.
struct PagePlace: Sendable {
  let file: URL

  var archive: URL { file.deletingPathExtension().appendingPathExtension("har") }

  var words: String { "\(file.path), as HAR in \(archive.path)" }
}
