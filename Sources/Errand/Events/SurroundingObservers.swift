/// Additional observers for every server created in a Swift task, for tests that check all calls.
package enum SurroundingObservers {
  /// The observers. Read when a server's settings change, never by a call.
  @TaskLocal package static var current: [any TaskObserver] = []
}
