import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct FileValidatorsTests {
  @Test func `does not attach validators to a file that another download replaced`() async throws {
    try await withFolder { folder in
      let place = folder.appendingPathComponent("file")
      func written(_ text: String) throws -> (file: PartialFile, stamp: String?) {
        let file = try PartialFile(for: place)
        try file.write(Data(text.utf8))
        return (file, file.stamp)
      }
      let known = FileValidators(["ETag": "\"two\"", "Vary": "a, B"]) { "mark of \($0)" }
      let (one, two) = (try written("one"), try written("two"))
      try two.file.publish()
      FileValidators.keep(known, for: place, stamp: two.stamp)
      #expect(FileValidators.of(place) == known && known != nil)
      try one.file.publish()
      FileValidators.keep(known, for: place, stamp: two.stamp)
      #expect(FileValidators.of(place) == nil, "the file now comes from the slower download")
      FileValidators.keep(known, for: place, stamp: one.stamp)
      #expect(FileValidators.of(place) == known)
    }
  }
}
