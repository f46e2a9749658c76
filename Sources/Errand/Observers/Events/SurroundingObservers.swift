/// Additional observers for every server created in a Swift task, for tests that check all calls.
package enum SurroundingObservers {
  /// The additional observers. A server reads them when its settings change, not on every call.
  @TaskLocal package static var current: [any TaskObserver] = []
}
