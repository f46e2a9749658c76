#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The command line's options.
enum TourOptions: Equatable {
  case help
  /// The entire tour. Its calls are written to `page`, if set.
  case embedded(page: URL?)
  case url(URL)

  static let usage = """
    errand-tour              walks through Errand, against three shops that run inside of it
    errand-tour --page FILE  the same, and writes a page with all calls of the shop, and their HAR
    errand-tour --url URL    walks through the steps that only read, against any server
    errand-tour --help       prints this

    environment
      SHOP_REMOTE   which of the three shops is asked: local, staging or production (the default)
      NO_COLOR      when set, no colours

    exit code: 0 every step did what it says, 1 one did not, 2 wrong usage
    """

  init(_ arguments: [String]) throws {
    switch arguments {
    case []: self = .embedded(page: nil)
    case ["--help"], ["-h"]: self = .help
    case ["--url"]: throw TourMisuse(description: "--url needs a URL")
    case ["--page"]: throw TourMisuse(description: "--page needs a file")
    case _ where arguments.count == 2 && arguments[0] == "--page":
      self = .embedded(page: URL(fileURLWithPath: arguments[1]))
    default:
      guard arguments.count == 2, arguments[0] == "--url" else {
        throw TourMisuse(description: "unknown arguments: \(arguments.joined(separator: " "))")
      }
      guard let url = URL(string: arguments[1]), ["http", "https"].contains(url.scheme), url.host != nil else {
        throw TourMisuse(description: "'\(arguments[1])' is not a URL that begins with https:// or http://")
      }
      self = .url(url)
    }
  }
}

/// An invalid command line.
struct TourMisuse: Error, CustomStringConvertible {
  let description: String
}
