import Errand
import Testing

@Suite(.timeLimit(.minutes(1))) struct HTTPMethodTests {
  @Test(arguments: [HTTPMethod.get, .head, .options, .trace, .query, .put, .delete])
  func `these methods may be repeated`(method: HTTPMethod) { #expect(method.isIdempotent) }

  @Test(arguments: [HTTPMethod.post, .patch, .connect, "PURGE", "get"])
  func `these methods may not, and methods are case-sensitive`(method: HTTPMethod) { #expect(!method.isIdempotent) }

  @Test(arguments: ["", "GET ", "G T", "GET\r\n", "É"])
  func `what is no token is no method`(name: String) { #expect(!HTTPMethod(name).isValid) }

  @Test func `automatic is the absence of a method`() {
    #expect(HTTPMethod.automatic.description == "automatic")
    #expect(!HTTPMethod.automatic.isValid)
    #expect(HTTPMethod("M-SEARCH").isValid)
  }
}
