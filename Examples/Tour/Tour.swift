/// Steps in order, with what is said before and after them.
struct Tour: Sendable {
  let greeting: String
  let steps: [TourStep]
  let farewell: String

  /// Takes every step; throws ``TourFailure`` at the first that does not do what it says.
  func walk(on page: Page) async throws {
    page.line("\n\(greeting)")
    let start = ContinuousClock.now
    for (index, step) in steps.enumerated() {
      page.title("\(index + 1)/\(steps.count)", step.title)
      page.code(step.code)
      let start = ContinuousClock.now
      do {
        try await step.run(page)
      } catch {
        throw TourFailure(step: step.title, error: error)
      }
      page.done(ContinuousClock.now - start)
    }
    page.line(
      "\nAll \(steps.count) steps did what they say, in \((ContinuousClock.now - start).inWords).\n\(farewell)\n")
  }
}

/// One thing that Errand does: what it is, the code that does it, and that code.
struct TourStep: Sendable {
  let title: String
  /// The lines that matter; a test holds that each of them is a line of the tour.
  let code: String
  /// Does it, says what happened, and throws unless that is what was to happen.
  let run: @Sendable (Page) async throws -> Void
}

extension TourStep {
  init(_ title: String, _ code: String, run: @escaping @Sendable (Page) async throws -> Void) {
    self.init(title: title, code: code, run: run)
  }
}
