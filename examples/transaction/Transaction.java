import com.zaxxer.hikari.HikariDataSource;
import io.foliot.Foliot;
import io.foliot.Tasks;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** Writes an order and its task in one transaction: both exist after the commit, and neither after a rollback. */
public class Transaction {
  record Timeout(long order) {}

  public static void main(String[] args) throws SQLException, InterruptedException {
    CountDownLatch handled = new CountDownLatch(1);
    try (HikariDataSource database = new HikariDataSource()) {
      database.setJdbcUrl(args[0]);
      try (Foliot foliot = Foliot.on(database); Connection connection = database.getConnection()) {
        Tasks<Timeout> timeouts = foliot.tasks("order-timeouts", Timeout.class).handle((timeout, attempt) -> {
          System.out.println("cancel order " + timeout.order());
          handled.countDown();
        });
        try (Statement statement = connection.createStatement()) {
          statement.execute("CREATE TABLE IF NOT EXISTS orders (id BIGINT PRIMARY KEY)");
          statement.execute("DELETE FROM orders");
        }
        connection.setAutoCommit(false);

        insert(connection, timeouts, 7, Duration.ofMinutes(30));
        connection.rollback();
        System.out.println("order 7 was rolled back; its task: " + timeouts.key("order-7").cancel());

        insert(connection, timeouts, 8, Duration.ofSeconds(1));
        connection.commit();
        handled.await();

        insert(connection, timeouts, 9, Duration.ofMinutes(30));
        connection.commit();
        // A cancel takes part in a transaction as well.
        System.out.println("order 9 is paid: " + timeouts.key("order-9").with(connection).cancel());
        connection.commit();
      }
    }
  }

  private static void insert(Connection connection, Tasks<Timeout> timeouts, long order, Duration delay)
      throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement("INSERT INTO orders (id) VALUES (?)")) {
      insert.setLong(1, order);
      insert.executeUpdate();
    }
    timeouts.in(delay).key("order-" + order).with(connection).submit(new Timeout(order));
  }
}
