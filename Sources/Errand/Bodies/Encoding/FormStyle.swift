/// The spelling of values as names and values, for forms and queries.
///
/// The names of nested values, of lists and the spelling of dates are conventions of servers: no standard has them.
public struct FormStyle: Sendable, Hashable {
  /// The name of a value inside of another.
  public enum Nesting: Sendable, Hashable {
    /// `address[city]`, as PHP, Rails and jQuery have it.
    case brackets
    /// `address.city`.
    case dots
  }

  /// The names of the elements of a list.
  public enum Lists: Sendable, Hashable {
    /// `tag=a&tag=b`.
    case repeated
    /// `tag[]=a&tag[]=b`.
    case brackets
    /// `tag[0]=a&tag[1]=b`.
    case indices
    /// `tag=a,b`. Elements are single values; a comma in one of them stays as it is.
    case commas
  }

  /// The spelling of a date.
  public enum Dates: Sendable, Hashable {
    /// `2026-11-22T08:30:00Z`, in UTC (RFC 3339).
    case iso8601
    /// Seconds since 1970, with a fraction where there is one.
    case secondsSince1970
    /// Whole milliseconds since 1970.
    case millisecondsSince1970
    /// `Sun, 22 Nov 2026 08:30:00 GMT`, as header fields have it (RFC 9110 §5.6.7).
    case httpDate
  }

  /// The spelling of a Boolean.
  public enum Booleans: Sendable, Hashable {
    /// `true` and `false`.
    case words
    /// `1` and `0`.
    case digits
  }

  /// The names of nested values.
  public var nesting: Nesting
  /// The names of the elements of lists.
  public var lists: Lists
  /// The spelling of dates.
  public var dates: Dates
  /// The spelling of Booleans.
  public var booleans: Booleans

  /// A spelling; `address[city]=Ulm&tag=a&tag=b&since=2026-11-22T08:30:00Z&new=true` unless stated.
  public init(
    nesting: Nesting = .brackets, lists: Lists = .repeated, dates: Dates = .iso8601, booleans: Booleans = .words
  ) {
    self.nesting = nesting
    self.lists = lists
    self.dates = dates
    self.booleans = booleans
  }

  /// The name of a value inside of the one named `outer`.
  func name(of key: String, in outer: String?) -> String {
    guard let outer else { return key }
    return nesting == .dots ? "\(outer).\(key)" : "\(outer)[\(key)]"
  }

  /// The name of the element of a list.
  func name(ofElement index: Int, in list: String) -> String {
    switch lists {
    case .repeated, .commas: list
    case .brackets: "\(list)[]"
    case .indices: "\(list)[\(index)]"
    }
  }
}
