public import ErrandFoundation

/// Encodes a payload as a form, `application/x-www-form-urlencoded`.
///
///     struct Login: ServerPOSTTask, FormUploadingTask {
///       let uploadPayload: Account       // name=Ada&password=…
///       let path = "login"
///     }
///
/// The payload must be keyed, such as a struct or a dictionary. ``FormStyle`` defines the names of nested values.
/// Spaces become `+`, and all characters except letters, digits and `*-._` are escaped (WHATWG URL Standard, §5.2).
public struct FormEncoder: BodyEncoder {
  /// The names of nested values and lists, and the format of dates.
  public var style: FormStyle

  /// Creates an encoder.
  public init(_ style: FormStyle = FormStyle()) { self.style = style }

  /// `application/x-www-form-urlencoded`.
  public var mediaType: MediaType { .form }

  /// Encodes a form. Throws `EncodingError` if the value is not keyed, such as a number, a string or an array.
  public func encode<Value: Encodable>(_ value: Value) throws -> Data {
    Self.data(HTTPQuery(try FieldEncoder(style: style).fields(of: value)))
  }

  static func data(_ fields: HTTPQuery) -> Data {
    var data = Data()
    for (index, item) in fields.items.enumerated() {
      if index > 0 { data.append(UInt8(ascii: "&")) }
      data.append(contentsOf: escaped(item.name))
      data.append(UInt8(ascii: "="))
      data.append(contentsOf: escaped(item.value ?? ""))
    }
    return data
  }

  private static func escaped(_ text: String) -> [UInt8] {
    text.percentEncodedBytes(except: "*-._", blank: UInt8(ascii: "+"))
  }
}

extension HTTPBody {
  /// Creates a form with the given fields, `application/x-www-form-urlencoded`.
  public static func form(_ fields: HTTPQuery) -> HTTPBody { .bytes(FormEncoder.data(fields), type: .form) }
}

extension HTTPQuery {
  /// Encodes a keyed value as a query. Dictionaries are sorted by name; structs keep the order of their properties. Nil
  /// values are omitted.
  ///
  ///     let query = try HTTPQuery(encoding: Search(text: "a b", page: 2))    // text=a%20b&page=2
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - style: The names of nested values and lists, and the format of dates.
  /// - Throws: `EncodingError` if the value is not keyed, such as a number or an array.
  public init(encoding value: some Encodable, _ style: FormStyle = FormStyle()) throws {
    self.init(try FieldEncoder(style: style).fields(of: value))
  }
}

extension HTTPHeaders {
  /// Encodes a keyed value as header fields. Dictionaries are sorted by name; structs keep the order of their
  /// properties. Nil values are omitted, and an array becomes one field per element. Dates have the format
  /// `Sun, 22 Nov 2026 08:30:00 GMT` (RFC 9110 §5.6.7).
  ///
  /// - Throws: `EncodingError` if the value is not keyed, such as a number or an array.
  public init(encoding value: some Encodable) throws {
    let items = try FieldEncoder(style: FormStyle(dates: .httpDate)).fields(of: value)
    self.init(items.map { Field(HTTPHeaderName($0.name), $0.value ?? "") })
  }
}
