import Errand

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `swift run errand-tour`: the whole product in a few seconds, against shops that it brings along.
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

  /// Takes the whole tour, and writes the page of its calls to `file`.
  private static func walk(writing file: URL?, on page: Page) async throws {
    let shops = try EmbeddedShops()
    guard let file else { return try await shops.tour.walk(on: page) }
    let log = try HTTPLog()
    await shops.shop.update { $0.recorders = [log] }
    try await shops.tour.walk(on: page)
    await log.finish()
    try Data(contentsOf: log.page).write(to: file, options: .atomic)
    page.line("All calls of the shop are in \(file.path), a text file for each in \(log.folder.path).\n")
  }
}
