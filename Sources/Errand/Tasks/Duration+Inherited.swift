extension Duration {
  /// Not a duration but its absence: what the server says counts.
  public static let inherited = Duration(secondsComponent: .min, attosecondsComponent: 0)
}
