import io.foliot.Foliot;
import io.foliot.Tasks;
import java.time.Duration;

/** Raises the alarm of a device that has been silent for two seconds. Each heartbeat pushes the alarm back. */
public class Heartbeat {
  private static final Duration SILENCE = Duration.ofSeconds(2);

  public static void main(String[] args) throws InterruptedException {
    try (Foliot foliot = Foliot.inMemory()) {
      Tasks<String> alarms = foliot.tasks("silent-devices", String.class).handle((device, attempt) -> {
        System.out.println(device + " is silent");
        attempt.again(SILENCE); // the alarm is repeated until the next heartbeat
      });
      for (int beat = 1; beat <= 20; beat++) {
        heartbeat(alarms, "device-1");
        if (beat <= 3 || beat >= 15) {
          heartbeat(alarms, "device-2");
        }
        Thread.sleep(200);
      }
    }
  }

  private static void heartbeat(Tasks<String> alarms, String device) {
    // A touch is one small write. It finds no task at the first heartbeat of a device.
    if (!alarms.key(device).touch(SILENCE)) {
      alarms.in(SILENCE).key(device).submit(device);
      System.out.println(device + " is watched");
    }
  }
}
