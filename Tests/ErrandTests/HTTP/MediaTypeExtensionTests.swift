import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct MediaTypeExtensionTests {
  @Test(arguments: [
    ("mp3", "audio/mpeg", "public.mp3"), ("jpg", "image/jpeg", "public.jpeg"), ("html", "text/html", "public.html"),
    ("json", "application/json", "public.json"), ("pdf", "application/pdf", "com.adobe.pdf"),
    ("png", "image/png", "public.png"),
    ("zip", "application/zip", "public.zip-archive"), ("mp4", "video/mp4", "public.mpeg-4"),
  ]) func `maps between file extensions, media types and uniform type identifiers`(
    ending: String, type: String, identifier: String
  ) {
    let media = MediaType(type)
    #expect(MediaType(fileExtension: ending) == media && MediaType(uniformTypeIdentifier: identifier) == media)
    #expect(media.preferredExtension == ending && media.uniformTypeIdentifier == identifier)
  }

  @Test func `ignores dots, case and parameters, and recognizes legacy media types`() {
    #expect(
      MediaType(fileExtension: ".JPEG") == "image/jpeg"
        && MediaType("TEXT/HTML; charset=utf-8").preferredExtension == "html")
    #expect(
      MediaType("application/x-javascript").preferredExtension == "js"
        && MediaType("image/jpg").preferredExtension == "jpg")
  }

  @Test func `parses the system's table of media types`() {
    let types = SystemMediaTypes("# comment\n\nText/X-Own own OWN2\ntext/x-second own third\nimage/none\n")
    #expect(types.type(of: "own") == "text/x-own" && types.type(of: "own2") == "text/x-own")
    #expect(types.type(of: "third") == "text/x-second" && types.type(of: "none") == nil)
    #expect(types.fileExtension(of: "text/x-own") == "own" && types.fileExtension(of: "image/none") == nil)
    #expect(types.type(of: "#") == nil && SystemMediaTypes("").type(of: "") == nil)
  }

  @Test func `returns nil for unknown types and extensions`() {
    #expect(MediaType(fileExtension: "") == nil && MediaType(fileExtension: "nope") == nil)
    #expect(MediaType(uniformTypeIdentifier: "nope") == nil && MediaType("x/y").preferredExtension == nil)
  }
}
