import Errand

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The read-only steps, run against the server at a URL.
struct Visit: Sendable {
  let url: URL
  let server: Server

  init(_ url: URL) {
    self.url = url
    var configuration = ServerConfiguration()
    // Allow http if the user typed http:// explicitly.
    if url.scheme == "http", let host = url.host(percentEncoded: false) { configuration.insecureHosts = [host] }
    configuration.maxLoggedDownloadSize = 400
    server = Server(Remote(url), configuration: configuration)
  }

  var tour: Tour {
    Tour(
      greeting: "A tour of Errand against \(url.absoluteString), with read-only requests.",
      steps: steps,
      farewell: "The full tour: swift run errand-tour")
  }
}
