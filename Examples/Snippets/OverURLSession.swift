import Errand
import ErrandURLSession

func overURLSession() -> Server {
  let shop = Server("https://shop.example.com/v1", transport: .urlSession())
  return shop
}
