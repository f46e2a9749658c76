/// Steps in order, with an introduction and an ending.
struct Tour: Sendable {
  let greeting: String
  let steps: [TourStep]
  let farewell: String

  /// Runs every step. Throws ``TourFailure`` if a step fails.
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
      "\nAll \(steps.count) steps passed in \((ContinuousClock.now - start).inWords).\n\(farewell)\n")
  }
}

/// A feature of Errand: its title, the code shown, and the code that runs.
struct TourStep: Sendable {
  let title: String
  /// The lines of code shown for the step. A test checks that the tour also runs them.
  let code: String
  /// Runs the step, prints what happened, and throws if the result is wrong.
  let run: @Sendable (Page) async throws -> Void
}

extension TourStep {
  init(_ title: String, _ code: String, run: @escaping @Sendable (Page) async throws -> Void) {
    self.init(title: title, code: code, run: run)
  }
}
