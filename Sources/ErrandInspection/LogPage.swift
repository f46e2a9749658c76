import Errand
import ErrandFoundation

/// The page of an ``HTTPLog``: a head written once, followed by a block of JSON for each call, appended when it ends.
///
/// Data from a peer is never treated as markup. The JSON blocks do not contain `<`, the script inserts data only as
/// text, and the content security policy allows only the page's own script.
enum LogPage {
  /// The maximum number of bytes of a body on the page. The text file contains everything that was recorded.
  static let bodyLimit = 16 << 10

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
      <body data-folder="">
      <header><h1>\(escaped(title))</h1>
      <input id="filter" type="search" placeholder="Filter: words, status:5, outcome:failed, method:post  ( / )" aria-label="Filter">
      <output id="count"></output> <span id="origin"></span>
      <span class="key"><span><i class="queue"></i>queue</span><span><i class="name"></i>name</span><span><i class="connect"></i>connect</span>
      <span><i class="tls"></i>TLS</span><span><i class="wait"></i>wait</span><span><i class="body"></i>body</span></span>
      <label><input id="follow" type="checkbox"> follow</label></header>
      <main><div id="list" role="listbox" tabindex="0" aria-label="Calls">
      <div id="axis" aria-hidden="true"><span class="number">call</span><span class="method"></span><span class="status"></span>
      <span class="address"></span><span class="bars"></span><span class="time">time</span></div><div id="space"></div></div>
      <section id="details" aria-live="polite" tabindex="0"></section></main>
      <noscript>This page needs JavaScript to show the calls. The text files next to it contain every call.</noscript>

      """.utf8)
  }

  private static let body = "<body data-folder=\""

  /// Returns the page with its links pointing to `folder`, which contains its text files.
  static func linking(_ page: Data, to folder: String) -> Data {
    guard let place = page.firstRange(of: Data(body.utf8)) else { return page }
    return page[..<place.upperBound] + Data(folder.percentEncodedBytes(except: "-._~") + [UInt8(ascii: "/")])
      + page[place.upperBound...]
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {  // compare scalars: a combining mark would merge with a bracket
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case "\"": result += "&quot;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
