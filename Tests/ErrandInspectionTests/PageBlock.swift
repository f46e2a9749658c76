@testable import Errand
@testable import ErrandInspection

/// Returns the block of a call on the log page and the text of its file.
func pageBlock(of call: RecordedCall, file: String) -> (block: String, text: String) {
  var text = TextBytes()
  var blocks = PageJSON(capacity: 100)
  let parts = call.write(to: &text)
  text.withBytes { blocks.addBlock(of: call, file: file, text: $0, parts) }
  return (blocks.withBytes { String(decoding: $0, as: UTF8.self) }, text.text)
}
