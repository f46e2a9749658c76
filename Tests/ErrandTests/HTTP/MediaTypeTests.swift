import Errand
import Testing

@Suite(.timeLimit(.minutes(1))) struct MediaTypeTests {
  @Test func `a semicolon ends the type even if a combining character follows`() {
    #expect(MediaType("Text/HTML ;\u{301}x").essence == "text/html")
  }

  @Test(arguments: [
    ("Application/JSON; charset=utf-8", "application/json"), (" text/html ;x=y", "text/html"), ("", ""), (";", ""),
  ])
  func `the essence is the type and subtype in lowercase`(value: String, essence: String) {
    #expect(MediaType(value).essence == essence)
  }

  @Test func `finds a parameter regardless of case and quotes`() {
    let type: MediaType = "multipart/mixed; Boundary=\"a b\" ; charset=UTF-8; flag"
    #expect(type.parameter("boundary") == "a b")
    #expect(type.parameter("CHARSET") == "UTF-8")
    #expect(type.parameter("flag") == nil)
    #expect(type.parameter("multipart/mixed") == nil)
  }

  @Test(arguments: [
    "text/csv", "application/json", "application/vnd.api+json", "image/svg+xml", "application/javascript",
  ])
  func `human-readable types are text`(value: String) { #expect(MediaType(value).isText) }

  @Test(arguments: ["image/png", "application/octet-stream", "application/x-ndjsonish", ""])
  func `binary and unknown types are not text`(value: String) { #expect(!MediaType(value).isText) }
}
