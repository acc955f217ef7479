package io.foliot.core.store.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskOperations;
import io.foliot.core.store.TermsByQueue;
import io.foliot.core.store.Touch;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class OptimisticBatchTest {
  private static final BatchStep<Draft, SubmitResult> SUBMIT = new BatchStep<>() {
    @Override
    public void wants(Draft draft, Reads reads) {
      String key = draft.key();
      if (key != null) {
        reads.key(new KeyName(draft.queue(), key));
      }
      if (draft.idempotency() != null) {
        reads.request(new RequestName(draft.queue(), key, draft.idempotency().key()));
      }
    }

    @Override
    public List<SubmitResult> apply(TaskOperations operations, List<Draft> drafts, long nowMicros) {
      return operations.submit(drafts, nowMicros);
    }

    @Override
    public boolean changes(Draft draft) {
      return draft.onConflict() == OnConflict.RESET;
    }
  };

  private final TermsByQueue terms = new TermsByQueue();
  private final MapRecords store = new MapRecords();
  private final MapRecords oracle = new MapRecords();
  private long lastId;
  private long nowMicros = 1_000_000;

  private TaskOperations operations(MapRecords table) {
    return new TaskOperations(table, () -> new Token(0, 0), terms, 0);
  }

  private Draft draft(SplittableRandom random) {
    String key = random.nextInt(4) == 0 ? null : "k" + random.nextInt(6);
    Draft.Idempotency idempotency = random.nextInt(4) == 0
        ? new Draft.Idempotency("r" + random.nextInt(3), random.nextInt(2))
        : null;
    OnConflict[] conflicts = OnConflict.values();
    return new Draft(new TaskId(0, ++lastId), "q", key, Due.at(random.nextInt(10_000)), null, 0,
        conflicts[random.nextInt(conflicts.length)], idempotency);
  }

  private static TaskRef ref(SplittableRandom random) {
    return new TaskRef.ByKey("q", "k" + random.nextInt(6));
  }

  /** Runs a batch on the store, and each written unit on the oracle too. Returns the number of rounds. */
  private <Q, R> int run(BatchStep<Q, R> step, List<Q> items, SplittableRandom random) {
    OptimisticBatch<Q, R> batch = new OptimisticBatch<>(step, items);
    List<Integer> open = batch.open();
    int rounds = 0;
    for (; !open.isEmpty(); rounds++) {
      MapRecords read = store.copy();
      long readAt = nowMicros;
      if (rounds < 3) {
        interfere(random);
      }
      for (BatchUnit<R> unit : batch.decide(open, read, readAt, 0, () -> new Token(0, 0), terms)) {
        boolean hasAnswersAsRead = batch.reads(unit.places()).requests().stream()
            .allMatch(name -> read.answer(name) == store.answer(name));
        if (hasAnswersAsRead && store.write(unit, read)) {
          batch.answer(unit);
          // A unit without changes is compared with the records as they were read, because other callers may have
          // changed the stored records since. A unit with changes was written, so its records had not changed, and it
          // is compared with the oracle.
          boolean changesNoRecord = unit.overlay().changes().isEmpty();
          MapRecords table = changesNoRecord ? read.copy() : oracle;
          List<R> expected = step.apply(operations(table), unit.places().stream().map(items::get).toList(), readAt);
          assertThat(unit.results()).isEqualTo(expected);
          if (changesNoRecord) {
            // The unit may have stored an answer nevertheless, for example that a live task was kept.
            unit.overlay().answers().forEach(
                (name, answer) -> oracle.remember(name.queue(), name.key(), name.request(), answer));
          }
        }
      }
      open = open.stream().filter(batch::isOpen).toList();
    }
    assertThat(batch.results()).hasSameSizeAs(items).doesNotContainNull();
    return rounds;
  }

  /** Changes some tasks, as another caller would. */
  private void interfere(SplittableRandom random) {
    nowMicros += random.nextInt(5_000);
    if (random.nextInt(3) == 0) {
      return;
    }
    List<TaskRef> cancelled = IntStream.range(0, random.nextInt(3)).mapToObj(i -> ref(random)).toList();
    List<Draft> drafts = IntStream.range(0, random.nextInt(3)).mapToObj(i -> draft(random)).toList();
    for (MapRecords table : List.of(store, oracle)) {
      operations(table).cancel(cancelled, nowMicros);
      operations(table).submit(drafts, nowMicros);
    }
  }

  @Test
  void eachUnitTakesEffectAtomically() {
    long seed = System.nanoTime();
    SplittableRandom random = new SplittableRandom(seed);
    int repeated = 0;
    for (int i = 0; i < 500; i++) {
      int count = 1 + random.nextInt(8);
      int rounds = switch (random.nextInt(3)) {
        case 0 -> run(SUBMIT, IntStream.range(0, count).mapToObj(j -> draft(random)).toList(), random);
        case 1 -> run(BatchSteps.TOUCH,
            IntStream.range(0, count).mapToObj(j -> new Touch(ref(random), Due.at(random.nextInt(10_000)))).toList(),
            random);
        default -> run(BatchSteps.CANCEL, IntStream.range(0, count).mapToObj(j -> ref(random)).toList(), random);
      };
      repeated += rounds > 1 ? 1 : 0;
      assertThat(store.contents()).as("seed %s, step %s", seed, i).isEqualTo(oracle.contents());
    }
    assertThat(repeated).as("batches with more than one round").isGreaterThan(15);
  }

  private List<BatchUnit<SubmitResult>> decide(List<Draft> drafts) {
    OptimisticBatch<Draft, SubmitResult> batch = new OptimisticBatch<>(SUBMIT, drafts);
    return batch.decide(batch.open(), store, nowMicros, 0, () -> new Token(0, 0), terms);
  }

  private static Draft draft(long id, @Nullable String key, Draft.@Nullable Idempotency idempotency) {
    return new Draft(new TaskId(0, id), "q", key, Due.at(5), null, 0, OnConflict.RESET, idempotency);
  }

  @Test
  void itemsOfOneKeyAreOneUnitInTheirOrder() {
    List<BatchUnit<SubmitResult>> units = decide(
        List.of(draft(1, "a", null), draft(2, "b", null), draft(3, "a", null), draft(4, null, null)));
    assertThat(units).extracting(BatchUnit::places).containsExactly(List.of(0, 2), List.of(1), List.of(3));
    assertThat(units.getFirst().results()).extracting(SubmitResult::kind).containsExactly(SubmitResult.Kind.CREATED,
        SubmitResult.Kind.RESET);
  }

  @Test
  void itemsOfOneRequestAreOneUnit() {
    Draft.Idempotency request = new Draft.Idempotency("r", 1);
    List<BatchUnit<SubmitResult>> units = decide(List.of(draft(1, null, request), draft(2, null, request)));
    assertThat(units).singleElement().satisfies(unit -> assertThat(unit.results()).extracting(SubmitResult::kind)
        .containsExactly(SubmitResult.Kind.CREATED, SubmitResult.Kind.REPEATED));
  }

  @Test
  void aRecordOfANewerVersionIsNotChanged() {
    operations(store).submit(List.of(draft(1, "a", null), draft(2, "b", null)), nowMicros);
    store.ofNewerVersion.add(new TaskId(0, 1));
    OptimisticBatch<TaskRef, CancelResult> cancels = new OptimisticBatch<>(BatchSteps.CANCEL,
        List.of(new TaskRef.ByKey("q", "a"), new TaskRef.ByKey("q", "b"), new TaskRef.ById(new TaskId(0, 1))));
    List<BatchUnit<CancelResult>> units = cancels.decide(cancels.open(), store, nowMicros, 0, () -> new Token(0, 0),
        terms);
    assertThat(units).extracting(BatchUnit::places).containsExactly(List.of(1));
    cancels.answer(units.getFirst());
    assertThat(cancels.open()).isEmpty();
    assertThatThrownBy(cancels::results).isInstanceOf(ItemsFailedException.class)
        .hasMessageContaining("newer version");

    OptimisticBatch<DueEntry, Boolean> parks = new OptimisticBatch<>(BatchSteps.PARK,
        List.of(new DueEntry(5, new TaskId(0, 1), "q")));
    assertThat(parks.decide(parks.open(), store, nowMicros, 0, () -> new Token(0, 0), terms)).isEmpty();
    assertThat(parks.results()).containsExactly(false);
  }

  @Test
  void anItemThatOnlyReadsMayReadANewerVersion() {
    operations(store).submit(List.of(draft(1, "a", null)), nowMicros);
    store.ofNewerVersion.add(new TaskId(0, 1));
    List<BatchUnit<SubmitResult>> units = decide(List.of(new Draft(new TaskId(0, 2), "q", "a", Due.at(5), null, 0,
        OnConflict.KEEP, null)));
    assertThat(units).singleElement().satisfies(unit -> {
      assertThat(unit.isUnchanged()).isTrue();
      assertThat(unit.results().getFirst().id()).isEqualTo(new TaskId(0, 1));
    });
  }

  @Test
  void aFailureOfUnknownEffectTakesPrecedence() {
    List<StoreException> reasons = new ArrayList<>(
        List.of(new StoreAwayException("away", null), new StoreException("lost", null)));
    for (int i = 0; i < 2; i++) {
      OptimisticBatch<TaskRef, CancelResult> batch = new OptimisticBatch<>(BatchSteps.CANCEL,
          List.of(new TaskRef.ByKey("q", "a")));
      reasons.forEach(batch::fail);
      assertThatThrownBy(batch::results).hasMessageContaining("lost");
      Collections.reverse(reasons);
    }
  }
}
