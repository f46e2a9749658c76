import ErrandInspection

#if canImport(SwiftUI) && canImport(WebKit) && (os(iOS) || os(visionOS))
  import Errand
  import SwiftUI
  import WebKit

  struct LogView: UIViewRepresentable {
    let log: HTTPLog

    func makeUIView(context: Context) -> WKWebView {
      let view = WKWebView()
      view.loadFileURL(log.page, allowingReadAccessTo: log.folder)
      return view
    }

    func updateUIView(_ view: WKWebView, context: Context) {}
  }
#endif
