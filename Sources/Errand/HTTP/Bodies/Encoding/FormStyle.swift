/// The encoding of values in forms and queries.
///
/// No standard defines how to write nested values, lists and dates, so servers differ.
public struct FormStyle: Sendable, Hashable {
  /// The naming of nested values.
  public enum Nesting: Sendable, Hashable {
    /// `address[city]`, as in PHP, Rails and jQuery.
    case brackets
    /// `address.city`.
    case dots
  }

  /// The naming of list elements.
  public enum Lists: Sendable, Hashable {
    /// `tag=a&tag=b`.
    case repeated
    /// `tag[]=a&tag[]=b`.
    case brackets
    /// `tag[0]=a&tag[1]=b`.
    case indices
    /// `tag=a,b`. Elements must be single values. Commas in elements are not escaped.
    case commas
  }

  /// The format of dates.
  public enum Dates: Sendable, Hashable {
    /// `2026-11-22T08:30:00Z`, in UTC (RFC 3339).
    case iso8601
    /// Seconds since 1970, with a fraction if needed.
    case secondsSince1970
    /// Milliseconds since 1970, rounded.
    case millisecondsSince1970
    /// `Sun, 22 Nov 2026 08:30:00 GMT`, as in header fields (RFC 9110 §5.6.7).
    case httpDate
  }

  /// The format of Booleans.
  public enum Booleans: Sendable, Hashable {
    /// `true` and `false`.
    case words
    /// `1` and `0`.
    case digits
  }

  /// The naming of nested values.
  public var nesting: Nesting
  /// The naming of list elements.
  public var lists: Lists
  /// The format of dates.
  public var dates: Dates
  /// The format of Booleans.
  public var booleans: Booleans

  /// Creates a style. The default encodes `address[city]=Ulm&tag=a&tag=b&since=2026-11-22T08:30:00Z&new=true`.
  public init(
    nesting: Nesting = .brackets, lists: Lists = .repeated, dates: Dates = .iso8601, booleans: Booleans = .words
  ) {
    self.nesting = nesting
    self.lists = lists
    self.dates = dates
    self.booleans = booleans
  }

  func name(of key: String, in outer: String?) -> String {
    guard let outer else { return key }
    return nesting == .dots ? "\(outer).\(key)" : "\(outer)[\(key)]"
  }

  func name(ofElement index: Int, in list: String) -> String {
    switch lists {
    case .repeated, .commas: list
    case .brackets: "\(list)[]"
    case .indices: "\(list)[\(index)]"
    }
  }
}
