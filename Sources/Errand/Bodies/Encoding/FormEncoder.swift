public import ErrandFoundation

/// Encodes a payload as a form, `application/x-www-form-urlencoded`.
///
///     struct Login: ServerPOSTTask, FormUploadingTask {
///       let uploadPayload: Account       // name=Ada&password=…
///       let path = "login"
///     }
///
/// The payload is a dictionary or any other keyed value; ``FormStyle`` says how what is nested in it is named. Bytes are
/// written as the WHATWG's URL Standard, §5.2, has it: a blank becomes `+`, and all but letters, digits and `*-._` are
/// percent-encoded.
public struct FormEncoder: BodyEncoder {
  /// The names of nested values and lists, and the spelling of dates.
  public var style: FormStyle

  /// An encoder of forms.
  public init(_ style: FormStyle = FormStyle()) { self.style = style }

  /// `application/x-www-form-urlencoded`.
  public var mediaType: MediaType { .form }

  /// The form.
  /// Throws `EncodingError` for a value that has no names: a number, a text, a list.
  public func encode<Value: Encodable>(_ value: Value) throws -> Data {
    Self.data(HTTPQuery(try FieldEncoder(style: style).fields(of: value)))
  }

  /// The bytes of a form's fields.
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
  /// A form of the given fields, `application/x-www-form-urlencoded`.
  public static func form(_ fields: HTTPQuery) -> HTTPBody { .bytes(FormEncoder.data(fields), type: .form) }
}

extension HTTPQuery {
  /// The items of any keyed value: a dictionary by name, a struct in the order of its properties. Nil is left out.
  ///
  ///     let query = try HTTPQuery(encoding: Search(text: "a b", page: 2))    // text=a%20b&page=2
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - style: The names of nested values and lists, and the spelling of dates.
  /// - Throws: `EncodingError` for a value that has no names, such as a number or a list.
  public init(encoding value: some Encodable, _ style: FormStyle = FormStyle()) throws {
    self.init(try FieldEncoder(style: style).fields(of: value))
  }
}

extension HTTPHeaders {
  /// The fields of any keyed value: a dictionary by name, a struct in the order of its properties. Nil is left out, and a
  /// list becomes as many lines. A date is written as fields have it, `Sun, 22 Nov 2026 08:30:00 GMT` (RFC 9110 §5.6.7).
  ///
  /// - Throws: `EncodingError` for a value that has no names, such as a number or a list.
  public init(encoding value: some Encodable) throws {
    let items = try FieldEncoder(style: FormStyle(dates: .httpDate)).fields(of: value)
    self.init(items.map { Field(HTTPHeaderName($0.name), $0.value ?? "") })
  }
}
