import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct InternationalHostTests {
  @Test(arguments: [
    ("http://bücher.example/", "http://xn--bcher-kva.example:80"),
    ("http://b%C3%BCcher.example/", "http://xn--bcher-kva.example:80"),
    ("http://B%C3%9CCHER.example./", "http://xn--bcher-kva.example:80"),
    ("http://bu%CC%88cher.example/", "http://xn--bcher-kva.example:80"),
    ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example:80"),
    ("http://XN--BCHER-KVA.EXAMPLE/", "http://xn--bcher-kva.example:80"),
    ("https://fa%C3%9F.example/", "https://xn--fa-hia.example:443"),
    ("https://u:p@%E4%BE%8B%E3%81%88.%E3%83%86%E3%82%B9%E3%83%88:8443/x", "https://xn--r8jz45g.xn--zckzah:8443"),
    ("https://shop%E3%80%82example/", "https://shop.example:443"),
  ])
  func `a host name in any script has one canonical form`(text: String, origin: String) throws {
    #expect(Origin(try #require(URL(string: text)))?.description == origin)
  }

  @Test(arguments: [
    ("%EF%BC%91%EF%BC%92%EF%BC%97.1", "127.0.0.1"), ("%EF%BD%8Cocalhost", "localhost"),
    ("%E2%93%9B%E2%93%9E%E2%93%92%E2%93%90%E2%93%9B%E2%93%97%E2%93%9E%E2%93%A2%E2%93%A3", "localhost"),
  ])
  func `recognizes a loopback host in full-width and circled characters`(host: String, form: String) throws {
    let origin = try #require(Origin(.known("http://\(host):81/")))
    #expect(origin.host == form && origin.isLoopback)
  }

  @Test(arguments: [
    "a%EF%BC%8Fb.example", "a%EF%BC%9Ab.example", "a%EF%BC%A0b.example", "%C3.example", "%FF", "%E2%81%A0",
    "%C3%BC%00.example", "%EF%BC%91%EF%BC%92%EF%BC%97.999.1.1", "%C3%BC..example",
  ])
  func `rejects a host that normalizes to a delimiter or an invalid name`(host: String) {
    if let url = URL(string: "http://\(host)/") { #expect(Origin(url) == nil) }
  }

  @Test func `host settings apply to every spelling of a host name`() {
    let pins: PublicKeyPins = ["bücher.example": ["sha256/AAAA"], "*.faß.example": ["sha256/BBBB"]]
    #expect(pins.pins(for: "xn--bcher-kva.example") != nil)
    #expect(pins.pins(for: "api.xn--fa-hia.example") != nil)
    #expect(pins.pins(for: "fass.example") == nil)
    var configuration = ServerConfiguration()
    configuration.insecureHosts = ["bücher.example"]
    #expect(configuration.insecureHosts == ["xn--bcher-kva.example"])
  }

  @Test func `if libidn2 is missing, the error says what to install`() {
    let error = #expect(throws: HostName.Refusal.self) {
      try HostName(Array("b%C3%BCcher.example".utf8)) { (_) throws(HostName.Refusal) in throw .noConverter }
    }
    #expect(error?.rawValue.contains("libidn2-0") == true && error?.rawValue.contains("xn--") == true)
  }

  #if os(Linux)
    @Test func `sends the Host header in Punycode`() async throws {
      let mock = try MockServer()
      mock.route("/x", answer: .text("x"))
      let port = try #require(mock.url.port)
      var configuration = CurlTransport.Configuration()
      configuration.addresses = ["bücher.test:\(port)": "127.0.0.1"]
      let transport = try CurlTransport(configuration)
      let response = try await transport.send(HTTPRequest(.get, .known("http://b%C3%BCcher.test:\(port)/x")))
      #expect(try await response.body.collect() == Data("x".utf8))
      #expect(mock.requests.first?.headers["Host"] == "xn--bcher-kva.test:\(port)")
    }
  #endif
}
