package io.foliot.kill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.foliot.api.TaskState;
import io.foliot.backends.Await;
import io.foliot.backends.LoopDisk;
import io.foliot.client.FoliotClient;
import io.foliot.client.FoliotException;
import io.foliot.client.NewTask;
import io.foliot.client.RetryPolicy;
import io.foliot.client.SubmittedTask;
import io.foliot.client.TaskView;
import io.foliot.history.Event;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The disk of the server fills up under load, either nearly or to the last block. */
@Tag("machine")
class FullDiskTest {
  private static final long DISK_BYTES = 1L << 30;

  /** Free space of a nearly full disk. It is below the reserve of 512 MiB that the server keeps for accepted tasks. */
  private static final long NEARLY_FULL_BYTES = 256L << 20;
  private static final int TASKS = 50;
  private static final int PAUSE_MILLIS = 1_000;
  private static final int FULL = 507;
  private static final Duration BOUND = Duration.ofSeconds(30);

  @Test
  void aNearlyFullDiskRefusesNewTasksAndFinishesOldOnes() throws IOException, LoopDisk.UnavailableException {
    long seed = Rig.seed();
    try (LoopDisk disk = LoopDisk.create(Rig.folder("full", seed), DISK_BYTES);
        Rig rig = new Rig("full", seed, disk.folder().resolve("data"));
        FoliotClient client = rig.server.client().retry(RetryPolicy.none()).build()) {
      rig.load();
      List<SubmittedTask> accepted = new ArrayList<>();
      for (int i = 0; i < TASKS; i++) {
        accepted.add(Objects.requireNonNull(rig.client.submit(Rig.WIDE, NewTask.after(Duration.ofSeconds(2)), false)));
      }
      rig.during(Event.Fault.OTHER, "the disk is nearly full", () -> {
        disk.fillUpTo(NEARLY_FULL_BYTES);
        Await.until("submits are refused", BOUND, () -> isRefused(client));
        FoliotException refusal = catchThrowableOfType(FoliotException.class, () -> submit(client));
        assertThat(refusal.status()).isEqualTo(FULL);
        assertThat(refusal.type()).isEqualTo("urn:foliot:problem:store-full");
        assertThat(refusal.problem().detail()).contains("nothing was written", "then repeat the call");
        rig.say("refused: " + refusal.problem().detail());
        Await.until("accepted tasks are finished", BOUND,
            () -> accepted.stream().allMatch(task -> isFinal(rig.client.read(task.id()))));
        assertThat(isRefused(client)).isTrue();
        disk.makeRoom();
        Await.until("submits are accepted again", BOUND, () -> !isRefused(client));
      });
      assertThat(rig.server.isAlive()).isTrue();
      Rig.Result result = rig.judge();
      assertThat(result.verdict().violations()).isEmpty();
      assertThat(result.verdict().counts().open()).isZero();
      assertThat(result.forgotten()).isEmpty();
    }
  }

  @Test
  void aDiskThatIsFullToTheLastBlockLosesNothing() throws IOException, LoopDisk.UnavailableException {
    long seed = Rig.seed();
    try (LoopDisk disk = LoopDisk.create(Rig.folder("brimful", seed), DISK_BYTES);
        Rig rig = new Rig("brimful", seed, disk.folder().resolve("data"))) {
      rig.load();
      Await.pause(PAUSE_MILLIS);
      rig.during(Event.Fault.KILL, "the disk is full", () -> {
        disk.fill();
        // Settles, touches and cancels are still written, as long as there is a free block.
        Await.pause(PAUSE_MILLIS);
        rig.say(rig.server.isAlive() ? "is still running" : "has stopped");
        rig.server.kill();
        rig.server.start();
        rig.say(rig.server.becomesReady() ? "starts on a full disk" : "does not start on a full disk");
        rig.server.kill();
        disk.makeRoom();
        rig.server.start();
        rig.server.awaitReady();
      });
      Await.pause(PAUSE_MILLIS);
      Rig.Result result = rig.judge();
      assertThat(result.verdict().violations()).isEmpty();
      assertThat(result.verdict().counts().open()).isZero();
      assertThat(result.forgotten()).isEmpty();
    }
  }

  /** Submits a task that the history does not record, to a queue for such tasks. */
  private static void submit(FoliotClient client) {
    SubmittedTask unused = client.submit(Rig.ASIDE, NewTask.after(Duration.ofHours(1)));
  }

  private static boolean isRefused(FoliotClient client) {
    try {
      submit(client);
      return false;
    } catch (FoliotException e) {
      if (e.status() == FULL) {
        return true;
      }
      throw e;
    }
  }

  private static boolean isFinal(@Nullable TaskView task) {
    return task != null && (task.state() == TaskState.FINISHED || task.state() == TaskState.FAILED);
  }
}
