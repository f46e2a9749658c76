import Errand
import Observation

#if canImport(SwiftUI)
  import SwiftUI
#endif

@MainActor @Observable final class WidgetSearch {
  var text = ""
  private(set) var widgets: [Widget] = []
  private(set) var message: String?

  func run(on shop: Server) async {
    do {
      try await Task.sleep(for: .milliseconds(300))  // until the user stops typing
      widgets = try await shop.send(SearchWidgets(text: text))
      message = nil
    } catch {
      if !Task.isCancelled { message = "\(error)" }
    }
  }
}

#if canImport(SwiftUI)
  struct SearchView: View {
    let shop: Server
    @State private var search = WidgetSearch()

    var body: some View {
      NavigationStack {
        List(search.widgets, id: \.id) { Text($0.name) }
          .overlay { Text(search.message ?? "") }
          .searchable(text: $search.text)
          .task(id: search.text) { await search.run(on: shop) }
      }
    }
  }
#endif
