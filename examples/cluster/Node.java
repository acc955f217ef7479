import com.zaxxer.hikari.HikariDataSource;
import io.foliot.Foliot;
import io.foliot.Tasks;
import io.foliot.core.OnConflict;
import java.time.Duration;

/** One node of a cluster. All nodes that open one database share its tasks, and take over from a node that dies. */
public class Node {
  public static void main(String[] args) throws InterruptedException {
    String name = args[1];
    try (HikariDataSource database = new HikariDataSource()) {
      database.setJdbcUrl(args[0]);
      try (Foliot foliot = Foliot.builder().node(name).on(database)) {
        Tasks<String> jobs = foliot.tasks("jobs", String.class).handle((job, run) -> {
          System.out.println(name + " runs " + job);
          run.again(Duration.ofSeconds(1));
        });
        // The first node creates the jobs; to the others they are live tasks, which are kept.
        for (int i = 1; i <= 10; i++) {
          jobs.now().key("job-" + i).onConflict(OnConflict.KEEP).submit("job-" + i);
        }
        System.out.println(name + " is ready");
        Thread.currentThread().join(); // until it is killed
      }
    }
  }
}
