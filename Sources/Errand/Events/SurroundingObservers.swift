/// Observers of every server that is made in a Swift task, beside its own: for checks that see all calls of a test.
package enum SurroundingObservers {
  /// The observers; read when a server takes new settings, never by a call.
  @TaskLocal package static var current: [any TaskObserver] = []
}
