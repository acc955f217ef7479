package io.foliot.bench.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.core.coordination.Assignment;
import io.foliot.core.coordination.Coordinator;
import io.foliot.core.store.TaskStore;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs the comparison with little work on real servers, and tests that its checks can fail. */
@Tag("long")
final class StoreComparisonTest {
  private static final Work LITTLE = new Work(100, Duration.ofMillis(10));
  private static final PrintStream NOWHERE = new PrintStream(OutputStream.nullOutputStream(), false,
      StandardCharsets.UTF_8);

  @Test
  void everyContenderDoesItsWorkInPostgres() throws Exception {
    assertThat(quick("postgres,postgres-pending")).hasSize(7);
  }

  @Test
  void everyContenderDoesItsWorkInMariaDb() throws Exception {
    assertThat(quick("mariadb")).hasSize(5);
  }

  @Test
  void everyContenderDoesItsWorkInRedis() throws Exception {
    assertThat(quick("redis")).hasSize(4);
  }

  /** Runs one row of NodesRow and one of NodesLoadRow. Other rows of these classes differ only in their parameters. */
  @Test
  void clustersDoTheirWork() throws Exception {
    assertThat(quick("cluster-nodes,cluster-load")).hasSize(2);
  }

  private static List<Table> quick(String rows) throws Exception {
    List<Table> tables = new StoreComparison(StoreOptions.parse("--quick", "--rows", rows), NOWHERE, NOWHERE).run();
    assertThat(tables).allSatisfy(table -> {
      assertThat(table.markdown()).startsWith("\n### ");
      assertThat(table.json()).isNotEmpty().allMatch(line -> line.contains("\"median\": "));
    });
    return tables;
  }

  @Test
  void aRowThatDoesNotExistIsRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> quick("oracle")).withMessageContaining("oracle");
  }

  @Test
  void everyRowIsNamedOnce() {
    assertThat(Rows.ALL).extracting(Row::name).doesNotHaveDuplicates();
  }

  /** A site without a server. */
  private static final class Nowhere implements Site {
    @Override
    public String describe() {
      return "nowhere";
    }

    @Override
    public TaskStore openStore() {
      throw new UnsupportedOperationException("this site has no store");
    }

    @Override
    public void settle() {}

    @Override
    public void close() {}
  }

  /** A scheduler that does its work at once. */
  private static class Immediate implements Backlog {
    private int tasks;

    final int tasks() {
      return tasks;
    }

    @Override
    public void fill(int newTasks) {
      tasks = newTasks;
    }

    @Override
    public void start(Ledger ledger) {
      for (int number = 0; number < tasks; number++) {
        ledger.begun(number);
      }
    }

    @Override
    public boolean isDone() {
      return true;
    }

    @Override
    public void close() {}
  }

  @Test
  void theRateOfADrainCountsAllTasks() throws Exception {
    assertThat(new Drain("immediate", 1, new Nowhere(), Immediate::new).round(LITTLE).count()).isEqualTo(100);
  }

  @Test
  void aTaskThatBeginsTwiceFailsTheDrain() {
    Drain drain = new Drain("repeating", 1, new Nowhere(), () -> new Immediate() {
      @Override
      public void start(Ledger ledger) {
        ledger.begun(7);
        super.start(ledger);
      }
    });
    assertThatThrownBy(() -> drain.round(LITTLE)).hasMessageContaining("every task must begin once: task=7, times=2");
  }

  @Test
  void aTaskThatNeverBeginsFailsTheDrain() {
    Ledger ledger = new Ledger(2);
    ledger.begun(1);
    assertThatThrownBy(() -> ledger.await(Duration.ofMillis(1))).hasMessageContaining("absent=1");
    assertThatThrownBy(ledger::ensureEachOnce).hasMessageContaining("task=0, times=0");
  }

  @Test
  void aFailedCheckOfTheStoreFailsTheDrain() {
    Drain drain = new Drain("unfinished", 1, new Nowhere(), () -> new Immediate() {
      @Override
      public void ensureDone(int drained) {
        throw new IllegalStateException("live=" + tasks());
      }
    });
    assertThatThrownBy(() -> drain.round(LITTLE)).hasMessageContaining("live=100");
  }

  /**
   * Calls of one item each.
   *
   * @param failing the caller whose calls fail; -1 for none
   */
  private record Counting(int failing) implements CallLoad {
    @Override
    public int call(int caller, int turn) {
      if (caller == failing) {
        throw new IllegalStateException("caller=" + caller);
      }
      return 1;
    }

    @Override
    public void ensureDone(long items) {
      assertThat(items).isPositive();
    }

    @Override
    public void close() {}
  }

  @Test
  void callersHaveARate() throws Exception {
    assertThat(new Callers("counting", 3, new Nowhere(), () -> new Counting(-1)).round(LITTLE).perSecond())
        .isPositive();
  }

  @Test
  void aCallThatFailsFailsTheRound() {
    assertThatThrownBy(() -> new Callers("failing", 3, new Nowhere(), () -> new Counting(2)).round(LITTLE))
        .isInstanceOf(ExecutionException.class).hasRootCauseMessage("caller=2");
  }

  @Test
  void callersShareNoKeysAndReuseTheirOwn() {
    LiveKeys keys = new LiveKeys(1, 4, 5);
    assertThat(keys.count()).isEqualTo(20);
    assertThat(keys.first(0, 0)).isEqualTo(keys.first(0, 1));
    assertThat(keys.touched().cardinality()).isEqualTo(5);
    keys.first(1, 0);
    assertThat(keys.touched().cardinality()).isEqualTo(10);
  }

  @Test
  void tasksThatNoClaimWonCountAsLost() {
    ClaimTally tally = new ClaimTally();
    assertThat(tally.lostPercent()).isZero();
    tally.storeCall("claim", 4, 1, false);
    tally.storeCall("settle", 9, 1, false);
    for (int i = 0; i < 3; i++) {
      tally.claimed("bench", 1);
    }
    assertThat(tally.asked()).isEqualTo(4);
    assertThat(tally.lostPercent()).isEqualTo(25);
  }

  @Test
  void eachNodeOwnsAllSlotsUnderOwnerOfAll() {
    for (String node : List.of("a", "b")) {
      AtomicInteger owned = new AtomicInteger();
      new OwnerOfAll(16).join(new Coordinator.Member(node, ""), view -> owned
          .set(Assignment.decode(Objects.requireNonNull(view.document())).slotsOf(node).cardinality()));
      assertThat(owned).hasValue(16);
    }
  }
}
