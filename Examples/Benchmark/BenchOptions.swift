import Errand
import ErrandFoundation

/// The command line's options.
struct BenchOptions {
  let scenario: any Scenario
  let url: URL
  /// Whether the command line contains a URL.
  let hasURL: Bool
  private(set) var requests: Int
  private(set) var concurrency: Int
  private(set) var file: URL?
  var authorities: URL?
  /// The folder for a log of all calls, or `nil`.
  private(set) var log: URL?
  /// The file for the spans of all calls, `-` to discard the spans, or `nil`.
  private(set) var spans: String?
  /// The maximum number of recordings in a folder.
  private(set) var recordings = 1000
  /// The seed for random numbers.
  private(set) var seed = 1
  /// The maximum duration of a run.
  private(set) var seconds = 3600
  /// The number of ranges of a file that are fetched concurrently.
  private(set) var ranges = 1
  /// The number of the first exchange.
  private(set) var first = 0
  /// The kinds of mutations to exclude, separated by commas.
  private(set) var without = ""
  /// The only kinds of mutations to use, separated by commas. Empty for all kinds.
  private(set) var only = ""

  static let scenarios: [String: any Scenario] = [
    "transport": TransportScenario(), "task": TaskScenario(), "stream": StreamScenario(), "file": FileScenario(),
    "upload": UploadScenario(), "storm": StormScenario(), "soak": SoakScenario(), "crowd": CrowdScenario(),
    "serve": ServeScenario(), "fuzz": FuzzScenario(), "soak-closing": ClosingSoakScenario(),
    "large": LargeScenario(), "large-peer": LargePeerScenario(),
    "manager": ManagerScenario(), "record": RecordScenario(),
    "cache": CacheScenario(), "cache-open": CacheOpenScenario(), "cache-write": CacheWriteScenario(),
    "transfer-kill": TransferKillScenario(), "transfer-get": TransferGetScenario(),
    "upload-kill": UploadKillScenario(), "upload-put": UploadPutScenario(),
    "queue-kill": QueueKillScenario(), "queue-send": QueueSendScenario(),
    "cache-kill": CacheKillScenario(), "addresses": AddressesScenario(), "addresses-inside": AddressCallsScenario(),
    "chaos": ChaosScenario(), "stopped": StoppedScenario(), "network": NetworkScenario(),
    "network-inside": NetworkChangeScenario(),
  ]

  static var usage: String {
    "errand-bench \(scenarios.keys.sorted().joined(separator: "|")) --url URL [--requests N] [--concurrency C] "
      + "[--file PATH] [--ca PEM] [--recordings N] [--log DIR] [--spans FILE] [--ranges N]; fuzz [--seed S] [--seconds N] [--exchanges N] [--first N] "
      + "[--without KINDS] [--only KINDS]; storm, chaos, soak, soak-closing, crowd, fuzz, large, manager, record, "
      + "addresses, network, cache-open, cache-write, cache-kill, transfer-kill, upload-kill and queue-kill start their own server and need no URL"
  }

  init(_ arguments: [String]) throws {
    guard let name = arguments.first, let scenario = Self.scenarios[name] else { throw BenchError(Self.usage) }
    requests = scenario.defaultRequests
    concurrency = scenario.defaultConcurrency
    var url: URL?
    var rest = arguments.dropFirst()
    while let option = rest.popFirst() {
      guard let value = rest.popFirst() else { throw BenchError("\(option) needs a value; \(Self.usage)") }
      switch option {
      case "--url": url = URL(string: value)
      case "--requests", "--exchanges", "--calls": requests = try Self.count(value, for: option)
      case "--concurrency": concurrency = try Self.count(value, for: option)
      case "--file": file = URL(fileURLWithPath: value)
      case "--spans": spans = value
      case "--log": log = URL(fileURLWithPath: value)
      case "--recordings": recordings = try Self.count(value, for: option)
      case "--seed": seed = try Self.count(value, for: option)
      case "--seconds": seconds = try Self.count(value, for: option)
      case "--ranges": ranges = try Self.count(value, for: option)
      case "--first": first = value == "0" ? 0 : try Self.count(value, for: option)
      case "--without": without = value
      case "--only": only = value
      case "--ca": authorities = URL(fileURLWithPath: value)
      default: throw BenchError("unknown option \(option); \(Self.usage)")
      }
    }
    hasURL = url != nil
    if scenario.isEmbedded { url = url ?? URL(string: "http://127.0.0.1") }
    guard let url else { throw BenchError("--url is missing or invalid; \(Self.usage)") }
    self.scenario = scenario
    self.url = url
  }

  /// Returns a copy with a different number of requests.
  func with(requests: Int) -> BenchOptions {
    var copy = self
    copy.requests = requests
    return copy
  }

  /// Creates the platform's transport with the given certificate authorities.
  func transport() throws -> any Transport {
    #if os(Linux)
      var configuration = CurlTransport.Configuration()
      if let authorities { configuration.tls.authorities = .file(authorities) }
      return try CurlTransport(configuration)
    #else
      return .platform
    #endif
  }

  private static func count(_ text: String, for option: String) throws -> Int {
    guard let count = Int(text), count > 0 else { throw BenchError("\(option) must be above 0, not '\(text)'") }
    return count
  }
}

/// An invalid command line or a failed run.
struct BenchError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
