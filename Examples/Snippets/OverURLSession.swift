import Errand
import ErrandURLSession
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

func overURLSession() -> Server {
  let configuration = URLSessionConfiguration.ephemeral
  configuration.httpAdditionalHeaders = ["X-Client": "kiosk"]
  let shop = Server("https://shop.example.com/v1", transport: .urlSession(configuration))
  return shop
}
