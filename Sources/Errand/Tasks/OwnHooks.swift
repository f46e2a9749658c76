/// The hooks that a type of tasks leaves at the library's defaults.
///
/// Swift can't tell whether a type overrides a default, so its first call records which defaults ran. A type has one function for each
/// hook for good: later calls skip the defaults that do nothing, and run the others without the Swift task that makes an app's hook
/// cancellable from outside.
struct OwnHooks: Sendable {
  struct Names: OptionSet, Sendable {
    let rawValue: UInt16

    static let willStart = Names(rawValue: 1 << 0)
    static let url = Names(rawValue: 1 << 1)
    static let uploadBody = Names(rawValue: 1 << 2)
    static let preflight = Names(rawValue: 1 << 3)
    static let didStart = Names(rawValue: 1 << 4)
    static let postProcess = Names(rawValue: 1 << 5)
    static let postflight = Names(rawValue: 1 << 6)
    /// Any that is not the task's: a server's, or the body of a response that is still to be read.
    static let others = Names(rawValue: 1 << 7)
    /// The body is none: found out with `uploadBody`.
    static let noBody = Names(rawValue: 1 << 8)
    /// It waits for nothing: found out with `postProcess`. Where a file's head was verified first, it is asked for good.
    static let verify = Names(rawValue: 1 << 9)
    static let didComplete = Names(rawValue: 1 << 10)

    /// Those that make a request.
    static let building: Names = [.willStart, .url, .uploadBody, .preflight, .didStart]
    /// Those that make a result of a response.
    static let concluding: Names = [.postProcess, .postflight]
    /// All of a task's.
    static let all: Names = [building, concluding, .verify, .didComplete]

    /// These, and those that are found out with them.
    fileprivate var found: Names {
      var found = self
      if contains(.uploadBody) { found.insert(.noBody) }
      if contains(.postProcess) { found.insert(.verify) }
      return found
    }
  }

  /// Those that are the library's.
  private(set) var own: Names = []
  /// Those of which it is known whether they are.
  private(set) var tried: Names = []

  // MARK: Finding out

  private static let known = Lock<[ObjectIdentifier: OwnHooks]>([:])

  /// The hooks of a type of tasks, as far as its calls have found out.
  static func of(_ type: Any.Type) -> OwnHooks {
    known.withLock { $0[ObjectIdentifier(type)] } ?? OwnHooks()
  }

  /// Which of a type's hooks say that they are the library's.
  private final class Watch: Sendable {
    let type: ObjectIdentifier
    let heard = Lock(Names())

    init(_ type: ObjectIdentifier) { self.type = type }
  }

  @TaskLocal private static var watch: Watch?

  /// Runs the hooks of these names, and notes which of them are the library's; nothing where one throws, for others come after it.
  static func finding<Value>(
    _ names: Names, of type: Any.Type, _ body: () async throws -> Value
  ) async rethrows -> Value {
    let watch = Watch(ObjectIdentifier(type))
    let value = try await $watch.withValue(watch, operation: body)
    let heard = watch.heard.withLock { $0 }
    known.withLock { known in
      known[watch.type, default: OwnHooks()].tried.formUnion(names)
      known[watch.type, default: OwnHooks()].own.formUnion(heard.intersection(names.found))
    }
    return value
  }

  /// A default was run for a task of this type. An app's hook may run other tasks meanwhile.
  static func ran(_ name: Names, of type: Any.Type) {
    guard let watch, watch.type == ObjectIdentifier(type) else { return }
    watch.heard.withLock { $0.formUnion(name) }
  }
}
