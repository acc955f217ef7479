import com.zaxxer.hikari.HikariDataSource;
import io.foliot.Foliot;
import io.foliot.Tasks;
import io.foliot.api.OnConflict;
import java.time.Duration;

/** One node of a cluster. All nodes that open one database share its tasks, and take over from a node that dies. */
public class Node {
  public static void main(String[] args) throws InterruptedException {
    String name = args[1];
    try (HikariDataSource database = new HikariDataSource()) {
      database.setJdbcUrl(args[0]);
      try (Foliot foliot = Foliot.builder().node(name).on(database)) {
        Tasks<String> chores = foliot.tasks("chores", String.class).handle((chore, attempt) -> {
          System.out.println(name + " runs " + chore);
          attempt.again(Duration.ofSeconds(1));
        });
        // The first node creates the tasks. For later nodes they exist already, and KEEP leaves them as they are.
        for (int i = 1; i <= 10; i++) {
          chores.now().key("chore-" + i).onConflict(OnConflict.KEEP).submit("chore-" + i);
        }
        System.out.println(name + " is ready");
        Thread.currentThread().join(); // until it is killed
      }
    }
  }
}
