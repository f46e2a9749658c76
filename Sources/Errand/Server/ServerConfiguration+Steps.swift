extension ServerConfiguration {
  /// Installs a step that sees every call once, before (outside) the one of that name.
  /// Throws ``TaskError`` with code `.unknownStep` when there is none.
  public mutating func addStep(_ step: any PerCallStep, before name: String) throws {
    perCallSteps.insert(step, at: try Self.index(of: name, in: perCallSteps))
  }

  /// Installs a step that sees every call once, after (inside) the one of that name.
  /// Throws ``TaskError`` with code `.unknownStep` when there is none.
  public mutating func addStep(_ step: any PerCallStep, after name: String) throws {
    perCallSteps.insert(step, at: try Self.index(of: name, in: perCallSteps) + 1)
  }

  /// Installs a step that sees every attempt, before (outside) the one of that name.
  /// Throws ``TaskError`` with code `.unknownStep` when there is none.
  public mutating func addStep(_ step: any PerAttemptStep, before name: String) throws {
    perAttemptSteps.insert(step, at: try Self.index(of: name, in: perAttemptSteps))
  }

  /// Installs a step that sees every attempt, after (inside) the one of that name.
  /// Throws ``TaskError`` with code `.unknownStep` when there is none.
  public mutating func addStep(_ step: any PerAttemptStep, after name: String) throws {
    perAttemptSteps.insert(step, at: try Self.index(of: name, in: perAttemptSteps) + 1)
  }

  private static func index(of name: String, in steps: [any Step]) throws -> Int {
    if let index = steps.firstIndex(where: { $0.name == name }) { return index }
    let known = steps.isEmpty ? "there are none" : "there are: " + steps.map(\.name).joined(separator: ", ")
    throw TaskError(.unknownStep, "no step of this kind is called '\(name)'; \(known)", phase: .preparing)
  }
}
