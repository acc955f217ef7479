package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.core.SystemClock;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.Claim;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.Touch;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * A process that submits tasks without pause until the test ends the process. It prints the id of each task when the
 * submit is acknowledged. It then postpones the task with a touch, and moves the task's index entry. The end of the
 * process may therefore interrupt a move, which is written without a sync.
 */
final class SubmittingProcess {
  /** Maximum number of batches that are submitted and not yet moved. */
  private static final int UNDER_WAY = 64;
  /** Length of an id in characters. A shorter line was cut off by the end of the process, and is ignored. */
  private static final int ID_LENGTH = 36;

  private SubmittingProcess() {}

  /** The way in which a test ends the process while it submits. */
  interface End {
    void apply(ProcessHandle process) throws IOException, InterruptedException;
  }

  /**
   * Runs a submitting process, ends it, and returns the acknowledged tasks.
   *
   * @param count the process is ended once this number of tasks is acknowledged
   */
  static Set<TaskId> run(Path folder, int count, End end) throws IOException, InterruptedException {
    return run(folder, count, end, "022", "-Xmx256m");
  }

  /**
   * Runs a submitting process with a umask and an option for the JVM, ends it, and returns the acknowledged tasks.
   *
   * @param count the process is ended once this number of tasks is acknowledged
   */
  static Set<TaskId> run(Path folder, int count, End end, String umask, String option)
      throws IOException, InterruptedException {
    List<String> command = List.of("sh", "-c", "umask " + umask + " && exec \"$@\"", "sh",
        Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m", option,
        "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
        SubmittingProcess.class.getName(), folder.toString());
    Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    Set<TaskId> acknowledged = new HashSet<>();
    boolean ended = false;
    try (BufferedReader lines = new BufferedReader(
        new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.length() == ID_LENGTH) {
          acknowledged.add(TaskId.parse(line));
        }
        if (acknowledged.size() >= count && !ended) {
          ended = true;
          end.apply(process.toHandle());
        }
      }
    }
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(acknowledged).as("acknowledged before the end").hasSizeGreaterThanOrEqualTo(count);
    return acknowledged;
  }

  /** Checks that the store holds all acknowledged tasks, that its counts equal its index, and that it is undamaged. */
  static void check(Path folder, Set<TaskId> acknowledged) {
    try (RocksDbStore store = RocksDbStore.open(folder, StoreHarness.SMALL, new SystemClock())) {
      List<DueEntry> entries = StoreHarness.index(store);
      Set<TaskId> found = new HashSet<>();
      entries.forEach(entry -> found.add(entry.id()));
      assertThat(found).containsAll(acknowledged);
      QueueCounts counts = StoreHarness.get(store.counts()).get(StoreHarness.QUEUE);
      assertThat(counts).as("counts are exact after a crash")
          .isEqualTo(new QueueCounts(entries.size(), 0, 0, 0, 0, 0));
    }
    assertThat(RocksDbStore.verify(folder, StoreHarness.SMALL, progress -> {}).damages()).isEmpty();
  }

  /** Runs in the process: submits until the process is ended or the store fails. */
  @SuppressWarnings("SystemOut") // the test reads the output
  public static void main(String[] arguments) throws InterruptedException {
    SystemClock clock = new SystemClock();
    RocksDbStore store = RocksDbStore.open(Path.of(arguments[0]), StoreHarness.SMALL, clock);
    Semaphore room = new Semaphore(UNDER_WAY);
    Random random = new Random();
    while (store.failure().isEmpty()) {
      room.acquire();
      List<Draft> drafts = drafts(clock, random);
      store.submit(drafts).thenCompose(results -> {
        StringBuilder ids = new StringBuilder();
        results.forEach(result -> ids.append(result.id()).append('\n'));
        System.out.print(ids);
        System.out.flush();
        return store.touch(drafts.stream().map(SubmittingProcess::pushBack).toList());
      }).thenCompose(results -> store.claim(drafts.stream().map(draft -> Claim.move(draft.id())).toList()))
          .whenComplete((results, failure) -> room.release());
    }
    store.close();
  }

  /**
   * Returns a touch that makes the task due 10 s later. The index entry of the task then usually stays in place until a
   * move.
   */
  private static Touch pushBack(Draft draft) {
    return new Touch(new TaskRef.ById(draft.id()), Due.at(draft.due().atMillis(0) + 10_000));
  }

  private static List<Draft> drafts(SystemClock clock, Random random) {
    List<Draft> drafts = new ArrayList<>();
    for (int i = random.nextInt(20); i >= 0; i--) {
      byte[] payload = new byte[random.nextInt(30) == 0 ? 5_000 : random.nextInt(200)];
      TaskId id = TaskId.of(clock.wallMillis(), random.nextInt(), random.nextLong());
      drafts.add(new Draft(id, StoreHarness.QUEUE, null, Due.at(clock.wallMillis() + random.nextInt(1_000_000)),
          new Body(payload, "x/y", Map.of()), 0, OnConflict.RESET, null));
    }
    return drafts;
  }
}
