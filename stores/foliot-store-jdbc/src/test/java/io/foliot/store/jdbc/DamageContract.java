package io.foliot.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.foliot.api.Body;
import io.foliot.api.Cancellation;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.TaskState;
import io.foliot.backends.Database;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SetAside;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Rows that cannot be decoded: each damaged row is reported, and affects no other row. */
abstract class DamageContract {
  private static final String QUEUE = "orders";
  private static final int TASKS = 1_000;
  /** Position of the task that is damaged. */
  private static final int BAD = 417;
  private static final long HOUR = 3_600_000;
  private static final int SECONDS_MAX = 60;
  /** Size of the checksum at the end of a blob. */
  private static final int SUM_BYTES = 4;

  private final List<SetAside> reported = Collections.synchronizedList(new ArrayList<>());
  private JdbcStore store;

  abstract Database database();

  @BeforeEach
  void open() {
    Databases.empty(database());
    store = JdbcStore.open(Databases.options(database()).toBuilder().onSetAside(reported::add).build());
  }

  @AfterEach
  void close() {
    store.close();
  }

  /** A kind of damage to a row, with the damaged column. */
  enum Damage {
    BIT_OF_THE_PAYLOAD("body"), PAYLOAD_OF_ANOTHER("body"), NO_PAYLOAD("body"), SHORT_PAYLOAD(
        "body"), NONSENSE_WITH_A_CHECKSUM("body"), OLDER_THAN_ANY("body"), ATTEMPTS("attempts"), SUCCESSOR(
            "successor"), STATE("state"), RUNNING_WITHOUT_A_CLAIM("state");

    final String column;

    Damage(String column) {
      this.column = column;
    }
  }

  private static <T> T get(CompletionStage<T> stage) {
    return stage.toCompletableFuture().orTimeout(SECONDS_MAX, TimeUnit.SECONDS).join();
  }

  private static Draft draft(int number, long delayMillis) {
    String key = "key " + number;
    return new Draft(TaskId.of(System.currentTimeMillis(), SlotHash.of(QUEUE, key), number), QUEUE, key,
        Due.after(delayMillis), Body.json("{\"n\":" + number + "}"), 1, OnConflict.RESET, null);
  }

  private List<TaskId> submitted(int count, long delayMillis) {
    List<Draft> drafts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      drafts.add(draft(i, delayMillis));
    }
    return get(store.submit(drafts)).stream().map(SubmitResult::id).toList();
  }

  private List<ClaimResult> claim(List<TaskId> ids, long leaseMillis) {
    return get(store.claim(ids.stream().map(id -> new Claim(id, leaseMillis)).toList())).results();
  }

  private Object parameter(TaskId id) {
    return database().kind().equals("postgresql") ? new UUID(id.high(), id.low()) : ParameterTable.bytes(id);
  }

  private byte @Nullable [] read(String table, String column, TaskId id) {
    try (Connection connection = database().connect();
        PreparedStatement select = connection
            .prepareStatement("SELECT " + column + " FROM " + table + " WHERE id = ?")) {
      select.setObject(1, parameter(id));
      try (ResultSet row = select.executeQuery()) {
        assertThat(row.next()).as("%s has %s", table, id).isTrue();
        return row.getBytes(1);
      }
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private void write(String column, TaskId id, Object value) {
    try (Connection connection = database().connect();
        PreparedStatement update = connection
            .prepareStatement("UPDATE foliot_task SET " + column + " = ? WHERE id = ?")) {
      update.setObject(1, value);
      update.setObject(2, parameter(id));
      assertThat(update.executeUpdate()).isEqualTo(1);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static int sum(byte[] blob) {
    CRC32C sum = new CRC32C();
    sum.update(blob, 0, blob.length - SUM_BYTES);
    return (int) sum.getValue();
  }

  private static int stored(byte[] blob) {
    return ByteBuffer.wrap(blob, blob.length - SUM_BYTES, SUM_BYTES).getInt();
  }

  /** Returns a copy of {@code other} with a valid checksum, as if a writer had stored it in place of {@code blob}. */
  private static byte[] resealed(byte[] blob, byte[] other) {
    int mark = sum(blob) ^ stored(blob);
    byte[] whole = other.clone();
    ByteBuffer.wrap(whole).putInt(whole.length - SUM_BYTES, sum(whole) ^ mark);
    return whole;
  }

  private byte[] versioned(TaskId id, int version) {
    byte[] body = Objects.requireNonNull(read("foliot_task", "body", id));
    byte[] next = body.clone();
    next[0] = (byte) version;
    return resealed(body, next);
  }

  private void damage(TaskId id, TaskId another, Damage damage) {
    byte[] body = Objects.requireNonNull(read("foliot_task", "body", id));
    write(damage.column, id, switch (damage) {
      case BIT_OF_THE_PAYLOAD -> {
        body[body.length / 2] ^= 1;
        yield body;
      }
      case PAYLOAD_OF_ANOTHER -> Objects.requireNonNull(read("foliot_task", "body", another));
      case NO_PAYLOAD -> new byte[0];
      case SHORT_PAYLOAD -> new byte[]{1, 2, 3};
      case NONSENSE_WITH_A_CHECKSUM -> resealed(body, new byte[]{1, 2, 100, 99, 98, 0, 0, 0, 0});
      case OLDER_THAN_ANY -> versioned(id, 0);
      case ATTEMPTS, SUCCESSOR -> new byte[]{1, 9, 9, 9, 9, 9, 9};
      case STATE -> 9;
      case RUNNING_WITHOUT_A_CLAIM -> ColumnCodes.RUNNING;
    });
  }

  private void assertSetAside(TaskId id) {
    assertThat(reported).extracting(SetAside::id, SetAside::queue).containsExactly(
        tuple(id, QUEUE));
    TaskRecord record = get(store.find(new TaskRef.ById(id))).orElseThrow();
    assertThat(record.state()).isEqualTo(TaskState.FAILED);
    assertThat(record.reason()).startsWith("set aside: ");
    assertThat(SetAside.is(record)).isTrue();
    assertThat(get(store.query(QUEUE, TaskState.FAILED, 10, null)).tasks()).extracting(TaskRecord::id)
        .containsExactly(id);
    assertThat(get(store.redrive(List.of(new Redrive(QUEUE, id))))).extracting(RedriveResult::kind)
        .containsExactly(RedriveResult.Kind.NOT_FAILED);
  }

  private List<DueEntry> due() {
    List<DueScan> scans = new ArrayList<>();
    for (int slot = 0; slot < store.slotCount(); slot++) {
      scans.add(new DueScan(slot, 0, null, Long.MAX_VALUE, TASKS));
    }
    return get(store.due(scans)).stream().map(DueSlice::entries).flatMap(List::stream).toList();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SUCCESSOR")
  void oneDamagedRowAffectsNoOtherRow(Damage damage) {
    List<TaskId> ids = submitted(TASKS, 0);
    TaskId bad = ids.get(BAD);
    damage(bad, ids.get(BAD + 1), damage);
    byte[] bytes = damage.column.equals("state") ? null : read("foliot_task", damage.column, bad);
    List<ClaimResult> results = claim(ids, HOUR);
    for (int i = 0; i < TASKS; i++) {
      if (i == BAD) {
        assertThat(results.get(i)).isInstanceOf(ClaimResult.Gone.class);
      } else {
        assertThat(results.get(i)).isInstanceOf(ClaimResult.Won.class);
        assertThat(((ClaimResult.Won) results.get(i)).task().attempt()).isEqualTo(1);
      }
    }
    assertSetAside(bad);
    if (bytes != null) {
      assertThat(read("foliot_final", damage.column, bad)).as("the unreadable bytes are kept").isEqualTo(bytes);
    }
    assertThat(claim(ids, HOUR).get(BAD)).isEqualTo(ClaimResult.Gone.ABSENT);
    assertThat(due()).extracting(DueEntry::id).hasSize(TASKS - 1).doesNotContain(bad);
    assertThat(reported).hasSize(1);
    SubmitResult next = get(store.submit(List.of(draft(BAD, 0)))).getFirst();
    assertThat(next.kind()).as("the key is free").isEqualTo(SubmitResult.Kind.CREATED);
    assertThat(next.generation())
        .isGreaterThan(get(store.find(new TaskRef.ById(bad))).orElseThrow().generation());
  }

  @ParameterizedTest
  @EnumSource(names = {"BIT_OF_THE_PAYLOAD", "ATTEMPTS", "SUCCESSOR", "STATE"})
  void aDamagedRowWhoseLeaseHasEndedIsSetAside(Damage damage) throws InterruptedException {
    List<TaskId> ids = submitted(50, 0);
    assertThat(claim(ids, 1)).hasOnlyElementsOfType(ClaimResult.Won.class);
    damage(ids.get(7), ids.get(8), damage);
    TimeUnit.MILLISECONDS.sleep(20);
    List<ClaimResult> results = claim(ids, HOUR);
    for (int i = 0; i < ids.size(); i++) {
      TaskState ended = i == 7 ? null : TaskState.FAILED;
      assertThat(results.get(i)).as("item %s, whose only attempt was used up", i)
          .isEqualTo(i == 7 ? ClaimResult.Gone.ABSENT : new ClaimResult.Gone(ended, QUEUE));
    }
    assertThat(reported).extracting(SetAside::id).containsExactly(ids.get(7));
    if (damage == Damage.SUCCESSOR) {
      assertThat(read("foliot_final", "attempts", ids.get(7))).as("the unreadable bytes are kept")
          .endsWith(1, 9, 9, 9, 9, 9, 9);
    }
  }

  @Test
  void damagedRowsAffectNoOtherItemOfACall() {
    List<TaskId> ids = submitted(12, HOUR);
    for (int i = 0; i < 6; i++) {
      damage(ids.get(2 * i), ids.get(1), Damage.ATTEMPTS);
    }
    assertThat(get(store.touch(List.of(touch(ids.get(0)), touch(ids.get(1)))))).extracting(TouchResult::kind)
        .containsExactly(TouchResult.Kind.ALREADY_FINISHED, TouchResult.Kind.RESET);
    assertThat(get(store.cancel(List.of(new TaskRef.ById(ids.get(2)), new TaskRef.ById(ids.get(3))))))
        .extracting(CancelResult::kind)
        .containsExactly(Cancellation.ALREADY_FINISHED, Cancellation.CANCELLED);
    assertThat(get(store.extend(List.of(new Extension(ids.get(4), new Token(1, 1), HOUR)))))
        .extracting(ExtendResult::kind).containsExactly(ExtendResult.Kind.STALE);
    assertThat(get(store.settle(List.of(settlement(ids.get(6)), settlement(ids.get(7))))))
        .extracting(SettleResult::kind)
        .containsOnly(SettleResult.Kind.STALE);
    assertThat(get(store.find(new TaskRef.ById(ids.get(8)))).orElseThrow().state()).isEqualTo(TaskState.FAILED);
    RecordPage page = get(store.query(QUEUE, TaskState.DELAYED, 100, null));
    assertThat(page.tasks()).extracting(TaskRecord::id).hasSize(5).doesNotContain(ids.get(10));
    assertThat(reported).extracting(SetAside::id).containsExactlyInAnyOrder(ids.get(0), ids.get(2), ids.get(4),
        ids.get(6),
        ids.get(8), ids.get(10));
    assertThat(Objects.requireNonNull(get(store.counts()).get(QUEUE)).live()).isEqualTo(5);
  }

  private static Touch touch(TaskId id) {
    return new Touch(new TaskRef.ById(id), Due.after(2 * HOUR));
  }

  private static AttemptEnd settlement(TaskId id) {
    return new AttemptEnd(id, 1, new Token(1, 1), new Outcome.Failed(), 0, "");
  }

  @Test
  void theKeyOfADamagedRowIsFreeForTheNextSubmit() {
    List<TaskId> ids = submitted(3, HOUR);
    damage(ids.get(1), ids.get(2), Damage.ATTEMPTS);
    // The new deadline is earlier than the old deadline, so the general path must read the row.
    List<SubmitResult> results = get(store.submit(List.of(draft(0, 0), draft(1, 0), draft(2, 0))));
    assertThat(results).extracting(SubmitResult::kind).containsExactly(SubmitResult.Kind.RESET,
        SubmitResult.Kind.CREATED, SubmitResult.Kind.RESET);
    assertThat(reported).extracting(SetAside::id).containsExactly(ids.get(1));
  }

  @Test
  void aMigrationReportsDamagedRowsAndKeepsThemUnchanged() {
    List<TaskId> ids = submitted(5, HOUR);
    damage(ids.get(3), ids.get(2), Damage.BIT_OF_THE_PAYLOAD);
    RecordPage page = get(store.live(100, null));
    assertThat(page.tasks()).extracting(TaskRecord::id).hasSize(4).doesNotContain(ids.get(3));
    assertThat(page.unreadable()).extracting(SetAside::id).containsExactly(ids.get(3));
    assertThat(reported).isEmpty();
    assertThat(get(store.live(100, null)).unreadable()).hasSize(1);
  }

  @Test
  void recordsOfANewerVersionStayUnchanged() {
    List<TaskId> ids = submitted(TASKS, 0);
    TaskId newer = ids.get(BAD);
    byte[] body = versioned(newer, 2);
    write("body", newer, body);
    long before = System.currentTimeMillis();
    List<ClaimResult> results = claim(ids, HOUR);
    for (int i = 0; i < TASKS; i++) {
      assertThat(results.get(i)).isInstanceOf(i == BAD ? ClaimResult.Later.class : ClaimResult.Won.class);
    }
    assertThat(((ClaimResult.Later) results.get(BAD)).wakeAt()).as("not retried at once").isGreaterThan(before + 1_000);
    TaskRecord record = get(store.find(new TaskRef.ById(newer))).orElseThrow();
    assertThat(record.state()).isEqualTo(TaskState.DELAYED);
    assertThat(record.attempt()).as("no attempt is used up").isZero();
    assertThat(read("foliot_task", "body", newer)).isEqualTo(body);
    assertThat(reported).isEmpty();
    assertThat(due()).as("a newer node finds it").extracting(DueEntry::id).contains(newer);
  }

  @Test
  void onlyChangesOfTasksOfANewerVersionAreRefused() {
    List<TaskId> ids = submitted(3, HOUR);
    write("attempts", ids.get(1), versionedAttempts(ids.get(1)));
    assertThatThrownBy(
        () -> get(store.cancel(ids.stream().map(id -> (TaskRef) new TaskRef.ById(id)).toList())))
        .isInstanceOf(CompletionException.class).hasCauseInstanceOf(ItemsFailedException.class)
        .satisfies(thrown -> {
          ItemsFailedException failed = (ItemsFailedException) Objects.requireNonNull(thrown.getCause());
          assertThat(failed.failure()).isInstanceOf(StoreAwayException.class);
          assertThat(failed.results().get(0)).isInstanceOf(CancelResult.class);
          assertThat(failed.results().get(1)).isNull();
          assertThat(failed.results().get(2)).isInstanceOf(CancelResult.class);
        });
    assertThatThrownBy(() -> get(store.submit(List.of(draft(1, 0), draft(7, 0)))))
        .hasCauseInstanceOf(ItemsFailedException.class);
    assertThat(get(store.find(new TaskRef.ByKey(QUEUE, "key 7")))).isPresent();
    assertThat(get(store.find(new TaskRef.ById(ids.get(1)))).orElseThrow().state()).isEqualTo(TaskState.DELAYED);
    assertThat(reported).isEmpty();
  }

  private static byte[] versionedAttempts(TaskId id) {
    byte[] known = Objects.requireNonNull(Blobs.history(TaskRecord.edit(id, QUEUE, null)
        .attempts(List.of(new AttemptRecord(1, 1, 1, 1, AttemptRecord.End.RETRIED, ""))).done()));
    byte[] next = known.clone();
    next[0] = 2;
    return resealed(known, next);
  }

  @Test
  void aDatabaseOfAnotherFormatIsRefused() {
    try {
      Databases.execute(database(), "UPDATE foliot_meta SET value = '99' WHERE name = 'format'");
      assertRefused("format=99");
      Databases.execute(database(), "DELETE FROM foliot_meta WHERE name = 'format'");
      assertRefused("format=1");
      Databases.execute(database(), "INSERT INTO foliot_meta (name, value) VALUES ('format', '2')");
      Databases.execute(database(), "UPDATE foliot_meta SET value = '4' WHERE name = 'schema'");
      Databases.execute(database(), "DELETE FROM foliot_schema_history WHERE version = '5'");
      assertRefused("format=2");
      assertThat(Databases.strings(database(), "SELECT value FROM foliot_meta WHERE name = 'schema'"))
          .as("the tables are not migrated").containsExactly("4");
    } finally {
      Databases.execute(database(), "DELETE FROM foliot_meta WHERE name = 'format'");
      Databases.execute(database(), "INSERT INTO foliot_meta (name, value) VALUES ('format', '3')");
      JdbcStore.open(Databases.options(database())).close();
    }
  }

  private void assertRefused(String format) {
    assertThatThrownBy(() -> JdbcStore.open(Databases.options(database())).close()).isInstanceOf(StoreException.class)
        .hasMessageContaining(format).hasMessageContaining("known=3");
  }

  @Test
  void tasksOfAQueueWithoutANameFailNoPoll() {
    List<TaskId> ids = submitted(3, 0);
    Databases.execute(database(), "UPDATE foliot_task SET queue = 99 WHERE "
        + (database().kind().equals("postgresql") ? "key = 'key 1'" : "`key` = 'key 1'"));
    store.close();
    store = JdbcStore.open(Databases.options(database()).toBuilder().onSetAside(reported::add).build());
    assertThat(due()).extracting(DueEntry::id).containsExactlyInAnyOrderElementsOf(ids);
    assertThat(due()).extracting(DueEntry::queue).containsOnly(QUEUE, "#99");
    assertThat(get(store.counts())).containsKey("#99");
    assertThat(claim(ids, HOUR)).hasOnlyElementsOfType(ClaimResult.Won.class);
  }
}
