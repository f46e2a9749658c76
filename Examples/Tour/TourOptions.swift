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
    errand-tour              tours Errand's features, using three built-in shops
    errand-tour --page FILE  does the same, and writes all calls to an HTML page and a HAR file
    errand-tour --url URL    runs the read-only steps against any server
    errand-tour --help       prints this

    environment
      SHOP_REMOTE   the shop to use: local, staging or production (the default)
      NO_COLOR      if set, turns off colors

    exit code: 0 if every step passed, 1 if a step failed, 2 if the arguments are invalid
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
