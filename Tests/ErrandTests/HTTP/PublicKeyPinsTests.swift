import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct PublicKeyPinsTests {
  @Test func `an exact host takes precedence over a wildcard, and a wildcard matches one label`() {
    let pins: PublicKeyPins = ["API.example.com": ["sha256/A"], "*.example.com": ["B"]]
    #expect(pins.pins(for: "api.example.com") == ["A"])
    #expect(pins.pins(for: "www.EXAMPLE.com") == ["B"])
    #expect(pins.pins(for: "a.b.example.com") == nil)
    #expect(pins.pins(for: "example.com") == nil)
  }

  @Test func `registering a key in any spelling of the host adds it to the host's keys`() {
    var pins = PublicKeyPins()
    for (key, host) in [("sha256/A", "api.example.com"), ("B", "API.example.com"), ("C", "*.example.com")] {
      pins.register(key, for: host)
    }
    #expect(pins.pins(for: "api.example.com") == ["A", "B"] && pins.pins(for: "www.example.com") == ["C"])
  }

  @Test func `a union contains the pins of both sets, merged per host`() {
    let (ours, theirs): (PublicKeyPins, PublicKeyPins) = (["a.test": ["A"], "b.test": ["B"]], ["a.test": ["C"]])
    for union in [ours.union(theirs), theirs.union(ours)] {
      #expect(union.pins(for: "a.test") == ["A", "C"] && union.pins(for: "b.test") == ["B"])
    }
    #expect(PublicKeyPins().union(ours) == ours && ours.union(PublicKeyPins()) == ours)
  }

  // The expected bytes were written by `openssl ec -pubout -outform DER`.
  @Test func `encodes a P-256 key like OpenSSL`() throws {
    let expected = try #require(
      Data(
        base64Encoded:
          "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEKwLnPo47zN+yA0MN74lhC8LLLBCyIR82WhbtUB5ax/3CR3Sgl3K4FEtdd/wM"
          + "XLIewetUNLjCxvavVQZpolePyA=="))
    #expect(PublicKeyInfo.der(.ellipticCurve(bits: 256), key: expected.suffix(65)) == expected)
  }

  // The keys were written as DER by `openssl rsa -RSAPublicKey_out` and `openssl rsa -pubout`.
  @Test func `encodes an RSA key like OpenSSL`() throws {
    let bare = try #require(
      Data(
        base64Encoded:
          "MIGJAoGBALM6aPrNdlHAPRFr3q0y6l0DwBwyEMvD/2wkSreBShPnadrluImDJ+zwQuI680VCUufEcCDXvzhDSuzNNLNiZBun"
          + "6ms+31wly9MlJrE/WQ+02jEczB5rtMx3PPHQeLY3zCcM9DXFCQlssAWbvIC39Ibl8Kn/a6lqaKp5AXsEz0A3AgMBAAE="))
    let expected = try #require(
      Data(
        base64Encoded:
          "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCzOmj6zXZRwD0Ra96tMupdA8AcMhDLw/9sJEq3gUoT52na5biJgyfs8ELi"
          + "OvNFQlLnxHAg1784Q0rszTSzYmQbp+prPt9cJcvTJSaxP1kPtNoxHMwea7TMdzzx0Hi2N8wnDPQ1xQkJbLAFm7yAt/SG"
          + "5fCp/2upamiqeQF7BM9ANwIDAQAB"))
    #expect(PublicKeyInfo.der(.rsa, key: bare) == expected)
  }

  @Test func `returns nil for an unknown curve`() {
    #expect(PublicKeyInfo.der(.ellipticCurve(bits: 255), key: Data(count: 32)) == nil)
  }

  @Test(arguments: [
    "https://plain.example", "plain.example:443", "plain.example/", " plain.example ", "PLAIN.example.",
  ])
  func `accepts a host with a scheme, port, slash, trailing dot or whitespace`(text: String) {
    let pins: PublicKeyPins = [text: ["A"]]
    #expect(pins.pins(for: "plain.example") == ["A"])
    #expect(pins.pins(for: "other.example") == nil && pins.unknownHosts.isEmpty)
  }

  @Test(arguments: [".plain.example", "", "a b", "*.", "plain.example:x"])
  func `an invalid host makes every call fail with an error that names the host`(text: String)
    async throws
  {
    var pins: PublicKeyPins = ["good.example": ["B"]]
    pins.register("A", for: text)
    #expect(pins.pins(for: "plain.example") == [] && pins.pins(for: "good.example") == ["B"])
    let stub = StubServer(.widget) { [pins] in $0.pins = pins }
    let error = await #expect(throws: TaskError.self) { try await PlainTask().on(stub.server).run() }
    #expect(error?.code == .badRequest && error?.description.contains("pins has '\(text)'") == true)
    #expect(stub.requests.isEmpty)
  }
}
