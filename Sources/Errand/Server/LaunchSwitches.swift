import ErrandFoundation

/// Settings from environment variables. They override the settings in code when a server is created.
struct LaunchSwitches {
  /// `ERRAND_ECHO=GetWidget,/widgets/*`: the tasks that are echoed.
  var echoed: Set<String> = []
  /// `ERRAND_LOG_STYLE=steps`: the log style.
  var logStyle: LogStyle?
  /// `ERRAND_RECORD=DIR`: the folder for recordings.
  var recordings: URL?
  var problems: [String] = []

  init(_ environment: [String: String]) {
    if let names = environment["ERRAND_ECHO"] {
      echoed = Set(names.split(separator: ",").map { String($0.trimmingSpaces()) }.filter { !$0.isEmpty })
    }
    if let name = environment["ERRAND_LOG_STYLE"], !name.isEmpty {
      logStyle = LogStyle.allCases.first { "\($0)" == name.lowercased() }
      if logStyle == nil {
        let known = LogStyle.allCases.map { "\($0)" }.joined(separator: ", ")
        problems.append("ERRAND_LOG_STYLE names an unknown style '\(name)'; known styles: \(known)")
      }
    }
    if let path = environment["ERRAND_RECORD"], !path.isEmpty { recordings = URL(fileURLWithPath: path) }
  }

  func apply(to configuration: inout ServerConfiguration) {
    configuration.echoedTasks.formUnion(echoed)
    if let logStyle { configuration.logStyle = logStyle }
  }

  /// Starts recording if the environment requests it and the manager is not recording yet. Failures are only logged.
  func apply(to manager: TaskManager, log: LogOutput) {
    for problem in problems { log.write(problem) }
    guard let recordings, manager.taskPathURL == nil else { return }
    do {
      try manager.startRecording(to: recordings, RecordingLimits())
    } catch {
      log.write("ERRAND_RECORD: \(error)")
    }
  }
}
