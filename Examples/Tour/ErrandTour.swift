import Errand

/// `swift run errand-tour`: the whole product in a few seconds, against shops that it brings along.
@main
struct ErrandTour {
  static func main() async {
    let page = Page.standardOutput
    do {
      switch try TourOptions(Array(CommandLine.arguments.dropFirst())) {
      case .help: page.line(TourOptions.usage)
      case .embedded: try await EmbeddedShops().tour.walk(on: page)
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
}
