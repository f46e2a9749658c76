/// In which order the results of many tasks are handed over.
public enum ResultOrder: Sendable {
  /// As they finish: nobody waits for a slow one.
  case finished
  /// In the order of the tasks. Those that finish early wait for the ones before them, and count to the window
  /// meanwhile, so that a slow one holds up the rest after a window and not before.
  case submitted
}
