import Errand
import Testing

@Suite(.timeLimit(.minutes(1))) struct HTTPMethodTests {
  @Test(arguments: [HTTPMethod.get, .head, .options, .trace, .query, .put, .delete])
  func `safe methods, PUT and DELETE are idempotent`(method: HTTPMethod) { #expect(method.isIdempotent) }

  @Test(arguments: [HTTPMethod.post, .patch, .connect, "PURGE", "get"])
  func `other methods and lowercase names are not idempotent`(method: HTTPMethod) { #expect(!method.isIdempotent) }

  @Test(arguments: ["", "GET ", "G T", "GET\r\n", "É"])
  func `a name that is not a token is an invalid method`(name: String) { #expect(!HTTPMethod(name).isValid) }

  @Test func `automatic is a placeholder and not a valid method`() {
    #expect(HTTPMethod.automatic.description == "automatic")
    #expect(!HTTPMethod.automatic.isValid)
    #expect(HTTPMethod("M-SEARCH").isValid)
  }
}
