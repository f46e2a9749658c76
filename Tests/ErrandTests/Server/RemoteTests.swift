import Errand
import ErrandTesting
import Foundation
import Testing

@Suite struct RemoteTests {
  private let known = [
    Remote("https://shop.test", name: "Production", shortName: "prod"),
    Remote("https://staging.shop.test", name: "Staging", shortName: "stg"),
  ]

  private func remote(_ value: String?) throws -> Remote {
    let environment = value.map { ["SHOP_REMOTE": $0] } ?? [:]
    return try .fromEnvironment("SHOP_REMOTE", among: known, default: known[0], environment: environment)
  }

  @Test(arguments: ["Staging", "staging", "STG"]) func `the environment names a remote, in any case`(value: String)
    throws
  {
    #expect(try remote(value) == known[1])
  }

  @Test(arguments: [nil, ""]) func `without the variable it is the default`(value: String?) throws {
    #expect(try remote(value) == known[0])
  }

  @Test func `an unknown name is an error that lists the known ones`() {
    let error = #expect(throws: TaskError.self) { try remote("Prodution") }
    #expect(error?.code == .unknownRemote)
    #expect(error?.description == "SHOP_REMOTE names the unknown remote 'Prodution'; known are: Production, Staging")
  }

  @Test func `a remote is named after its host unless it has a name`() {
    #expect(Remote("https://api.shop.test/v1").name == "api.shop.test")
    #expect(Remote("https://api.shop.test/v1", name: "API").shortName == "API")
    #expect(Remote("no host").name == "no host")
  }

  @Test(arguments: ["shop.test", "no scheme", "https://", "https://a b.test", "://x", "https:///path"])
  func `a malformed remote is an error of the first call, with its address`(address: String) async {
    let stub = StubServer(.status(.ok), remote: Remote(address, name: "mine"))
    let error = await #expect(throws: TaskError.self) { try await PlainTask().on(stub.server).run() }
    #expect(error?.code == .badURL)
    #expect(error?.description.contains("'mine'") == true && error?.description.contains(address) == true)
    #expect(stub.requests.isEmpty)
  }

  @Test func `what is secret in a malformed address is not in the error`() async {
    let stub = StubServer(.status(.ok), remote: "https://user:s3cret@ho st.test")
    let error = await #expect(throws: TaskError.self) {
      try await PlainTask(path: "x", query: ["token": "s3cret"]).on(stub.server).run()
    }
    #expect(error?.code == .badURL)
    #expect(error?.description.contains("s3cret") == false, "\(error?.description ?? "")")
  }
}
