/// What is known of every host: found by its origin once, then by its place.
///
/// A dictionary of the states themselves would allocate for every change in place.
struct HostTable {
  private var places: [Origin: Int] = [:]
  private var states: [HostAdmission] = []
  private var free: [Int] = []

  var count: Int { places.count }

  var origins: [Origin] { Array(places.keys) }

  /// Where the state of a host is; nil where nothing is known of it.
  func place(of host: Origin) -> Int? { places[host] }

  /// The same; a new state where there was none.
  mutating func enter(_ host: Origin) -> Int {
    if let place = places[host] { return place }
    let place = free.popLast() ?? states.count
    if place == states.count { states.append(HostAdmission()) }
    places[host] = place
    return place
  }

  /// Forgets a host; its place is another's from then on.
  mutating func remove(_ host: Origin) {
    guard let place = places.removeValue(forKey: host) else { return }
    states[place] = HostAdmission()
    free.append(place)
  }

  subscript(_ place: Int) -> HostAdmission {
    get { states[place] }
    _modify { yield &states[place] }
  }

  subscript(_ host: Origin) -> HostAdmission? { places[host].map { states[$0] } }
}
