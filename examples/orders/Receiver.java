import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.time.LocalTime;

/** Prints each callback with its time. Run it with: java examples/orders/Receiver.java */
public class Receiver {
  public static void main(String[] args) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 8080), 0);
    server.createContext("/", call -> {
      Headers headers = call.getRequestHeaders();
      String job = headers.getFirst("foliot-job");
      System.out.println(LocalTime.now() + "  "
          + (job == null
              ? "cancel " + headers.getFirst("foliot-key")
              : "job " + job + " of " + headers.getFirst("foliot-scheduled-at"))
          + ": " + new String(call.getRequestBody().readAllBytes()));
      call.sendResponseHeaders(200, -1);
      call.close();
    });
    server.start();
    System.out.println("waiting for callbacks at http://127.0.0.1:8080/");
  }
}
