import ErrandFoundation

/// The page of an ``HTTPLog``: a head that is written once, and a block of JSON for each call, appended while the run goes on. Pure.
///
/// Nothing that a peer sent is ever markup: blocks of JSON have no `<`, the script puts texts where texts belong, and the page's policy
/// runs no other script than its own.
enum LogPage {
  /// The most bytes of a body that the page has; the text file has all that is shown.
  static let bodyLimit = 16 << 10

  /// The beginning of the page.
  static func head(title: String) -> Data {
    let hash = Data(SHA256.hash(Array(script.utf8))).base64EncodedString()
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-\(hash)'; base-uri 'none'"
    return Data(
      """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="\(policy)">
      <meta name="viewport" content="width=device-width">
      <meta name="referrer" content="no-referrer">
      <title>\(escaped(title))</title>
      <style>\(style)</style>
      <script>\(script)</script>
      </head>
      <body>
      <header><h1>\(escaped(title))</h1>
      <input id="filter" type="search" placeholder="Filter: words, status:5, outcome:failed, method:post  ( / )" aria-label="Filter">
      <output id="count"></output>
      <label><input id="follow" type="checkbox"> follow</label></header>
      <main><div id="list" role="listbox" tabindex="0" aria-label="Calls"><div id="space"></div></div>
      <section id="details" aria-live="polite" tabindex="0"></section></main>
      <noscript>This page needs its script to show the calls; the text files beside it have all of them.</noscript>

      """.utf8)
  }

  /// The block of a call.
  static func block(_ call: RecordedCall, file: String) throws -> Data {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .secondsSince1970
    encoder.outputFormatting = .withoutEscapingSlashes
    let json = try encoder.encode(Entry(call, file: file))
    var block = Data("<script type=\"application/json\" class=\"call\">".utf8)
    block.reserveCapacity(json.count + 80)
    for byte in json {
      // In JSON it stands in strings alone, where an escape is the same; nothing there can end the block then.
      if byte == UInt8(ascii: "<") { block.append(contentsOf: "\\u003c".utf8) } else { block.append(byte) }
    }
    block.append(contentsOf: "</script>\n".utf8)
    return block
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {  // sign by sign: a combining mark would make another character of a bracket
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case "\"": result += "&quot;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// A call as the page has it.
  private struct Entry: Encodable {
    let call: RecordedCall
    /// The name of the text file.
    let file: String
    /// The command of each request.
    let curl: [String?]

    init(_ call: RecordedCall, file: String) {
      var call = call
      curl = call.exchanges.map(\.curlCommand)
      for index in call.exchanges.indices {
        call.exchanges[index].body?.cut(to: LogPage.bodyLimit)
        call.exchanges[index].response?.body?.cut(to: LogPage.bodyLimit)
      }
      self.call = call
      self.file = file
    }
  }
}

extension RecordedCall.Body {
  /// Leaves the bytes out, and of a text what is beyond `limit` bytes.
  fileprivate mutating func cut(to limit: Int) {
    data = nil
    guard let whole = text, whole.utf8.count > limit else { return }
    text = String(decoding: whole.utf8.prefix(limit), as: UTF8.self)
    note = "… \(whole.utf8.count - limit) more bytes are in the text file"
  }
}
