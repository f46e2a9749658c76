public import Errand

/// The weather of a city.
public struct Forecast: TaskPayload {
  /// The temperature.
  public let celsius: Double
}

struct GetForecast: GET<Forecast> {
  let city: String
  var path: String { "forecast/\(segment: city)" }
}

/// A client for the weather service.
public struct WeatherClient: Sendable {
  private let server: Server

  /// Creates a client with its own server.
  public init(key: String, transport: any Transport = .platform) {
    server = Server("https://weather.example.com/v1", transport: transport, asDefault: false) {
      $0.authentication = .apiKey(key, header: "X-API-Key")
    }
  }

  /// Returns a city's forecast.
  public func forecast(for city: String) async throws -> Forecast { try await server.send(GetForecast(city: city)) }
}
