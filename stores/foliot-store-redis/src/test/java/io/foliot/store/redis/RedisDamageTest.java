package io.foliot.store.redis;

import static io.foliot.store.redis.Tasks.HOUR;
import static io.foliot.store.redis.Tasks.QUEUE;
import static io.foliot.store.redis.Tasks.draft;
import static io.foliot.store.redis.Tasks.failure;
import static io.foliot.store.redis.Tasks.get;
import static io.foliot.store.redis.Tasks.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Cancellation;
import io.foliot.api.Due;
import io.foliot.api.TaskState;
import io.foliot.backends.RedisServer;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.QueueTerms;
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
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that a record that cannot be read affects no other record, and is reported. */
final class RedisDamageTest {
  private static final int TASKS = 1_000;
  /** Index of the task whose record is damaged. */
  private static final int BAD = 417;
  private static final Layout LAYOUT = new Layout("foliot");

  private static RedisServer server;

  private final List<SetAside> reported = Collections.synchronizedList(new ArrayList<>());
  private RedisStore store;

  @BeforeAll
  static void startServer() {
    server = RedisServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @BeforeEach
  void open() {
    assertThat(server.command("FLUSHALL")).isEqualTo("OK");
    store = RedisStore.open(RedisOptions.builder(server.uri()).slots(1).onSetAside(reported::add).build());
  }

  @AfterEach
  void close() {
    store.close();
  }

  /** Damage to a record or its payload. */
  enum Damage {
    VERSION, STATE, CUT_HEADER, CUT_TAIL, EMPTY, LONG_KEY, RUNNING_WITHOUT_A_CLAIM, BIT_OF_THE_PAYLOAD, NO_PAYLOAD
  }

  private byte[] read(String hash, byte[] field) {
    byte[] value = (byte[]) store.link().command(CommandType.HMGET, LAYOUT.of(0, hash), field).join().getFirst();
    return value == null ? new byte[0] : value;
  }

  private void write(String hash, byte[] field, byte[] value) {
    assertThat(store.link().command(CommandType.HSET, LAYOUT.of(0, hash), field, value).join()).isNotNull();
  }

  private void damage(TaskId task, Damage damage) {
    byte[] id = RecordCodec.id(task);
    byte[] value = read(":task", id);
    byte[] body = read(":body", id);
    switch (damage) {
      case VERSION -> write(":task", id, with(value, 0, 0xC1));
      case STATE -> write(":task", id, with(value, 1, 77));
      case CUT_HEADER -> write(":task", id, Arrays.copyOf(value, 40));
      case CUT_TAIL -> write(":task", id, Arrays.copyOf(value, value.length - 3));
      case EMPTY -> write(":task", id, new byte[0]);
      case LONG_KEY -> write(":task", id, with(value, 102 + QUEUE.length(), 0x7F));
      case RUNNING_WITHOUT_A_CLAIM -> write(":task", id, with(value, 1, 2));
      case BIT_OF_THE_PAYLOAD -> write(":body", id, with(body, body.length - 2, body[body.length - 2] ^ 1));
      case NO_PAYLOAD -> assertThat(store.link().command(CommandType.HDEL, LAYOUT.of(0, ":body"), id).join())
          .isNotNull();
    }
  }

  private static byte[] with(byte[] bytes, int at, int value) {
    byte[] changed = bytes.clone();
    changed[at] = (byte) value;
    return changed;
  }

  /** Submits tasks with the keys "key 0", "key 1" and so on. */
  private List<TaskId> submitted(int count, long delayMillis) {
    List<Draft> drafts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      drafts.add(draft("key " + i, delayMillis));
    }
    return get(store.submit(drafts)).stream().map(SubmitResult::id).toList();
  }

  private List<ClaimResult> claim(List<TaskId> ids, long leaseMillis) {
    return get(store.claim(ids.stream().map(id -> new Claim(id, leaseMillis)).toList())).results();
  }

  private List<DueEntry> due() {
    return get(store.due(List.of(new DueScan(0, 0, null, Long.MAX_VALUE, TASKS)))).getFirst().entries();
  }

  private void assertSetAside(TaskId id) {
    assertThat(reported).extracting(SetAside::id).containsExactly(id);
    assertThat(reported.getFirst().queue()).isEqualTo(QUEUE);
    TaskRecord record = get(store.find(new TaskRef.ById(id))).orElseThrow();
    assertThat(record.state()).isEqualTo(TaskState.FAILED);
    assertThat(SetAside.is(record)).isTrue();
    assertThat(get(store.query(QUEUE, TaskState.FAILED, 10, null)).tasks()).extracting(TaskRecord::id)
        .containsExactly(id);
    assertThat(get(store.redrive(List.of(new Redrive(QUEUE, id))))).extracting(RedriveResult::kind)
        .containsExactly(RedriveResult.Kind.NOT_FAILED);
  }

  @ParameterizedTest
  @EnumSource
  void aBadRecordAmongAThousandAffectsNoOtherRecord(Damage damage) {
    List<TaskId> ids = submitted(TASKS, 0);
    TaskId bad = ids.get(BAD);
    damage(bad, damage);
    byte[] value = read(":task", RecordCodec.id(bad));
    byte[] body = read(":body", RecordCodec.id(bad));
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
    // With these kinds of damage, the claim may change the record before the damage is found.
    boolean isClaimed = damage == Damage.BIT_OF_THE_PAYLOAD || damage == Damage.NO_PAYLOAD
        || damage == Damage.CUT_TAIL || damage == Damage.LONG_KEY;
    if (!isClaimed) {
      assertThat(read(":aside", RecordCodec.id(bad))).as("the unreadable bytes are kept").isEqualTo(value);
    }
    byte[] name = Arrays.copyOf(RecordCodec.id(bad), 17);
    name[16] = 'b';
    assertThat(read(":aside", name)).as("with its payload").isEqualTo(body);
    assertThat(claim(ids, HOUR).get(BAD)).isEqualTo(ClaimResult.Gone.ABSENT);
    assertThat(due()).extracting(DueEntry::id).hasSize(TASKS - 1).doesNotContain(bad);
    assertThat(reported).hasSize(1);
    QueueCounts counts = Objects.requireNonNull(get(store.counts()).get(QUEUE));
    if (damage != Damage.RUNNING_WITHOUT_A_CLAIM) {
      assertThat(counts.running()).as("not changed by the damage").isEqualTo(TASKS - 1);
      assertThat(counts.delayed()).as("the bad task is not counted as live").isZero();
    }
    assertThat(counts.failed()).isEqualTo(1);
    SubmitResult next = get(store.submit(List.of(draft("key " + BAD, 0)))).getFirst();
    assertThat(next.kind()).as("the key is free").isEqualTo(SubmitResult.Kind.CREATED);
    assertThat(next.generation())
        .isGreaterThan(get(store.find(new TaskRef.ById(bad))).orElseThrow().generation());
  }

  @Test
  void aDamagedOldTaskKeepsTheKeyOfTheLiveTask() {
    TaskId old = submitted(1, 0).getFirst();
    TaskRecord won = ((ClaimResult.Won) claim(List.of(old), HOUR).getFirst()).task();
    get(store.settle(List.of(new AttemptEnd(old, won.generation(), Objects.requireNonNull(won.token()),
        new Outcome.Finished(), won.claimedAt(), ""))));
    TaskId live = submitted(1, HOUR).getFirst();
    assertThat(live).isNotEqualTo(old);
    damage(old, Damage.CUT_TAIL);
    assertThat(SetAside.is(get(store.find(new TaskRef.ById(old))).orElseThrow())).isTrue();
    assertThat(get(store.find(new TaskRef.ByKey(QUEUE, "key 0"))).orElseThrow().id()).isEqualTo(live);
  }

  @ParameterizedTest
  @EnumSource(names = {"STATE", "CUT_TAIL", "EMPTY", "BIT_OF_THE_PAYLOAD"})
  void aBadRecordWhoseLeaseHasEndedIsSetAside(Damage damage) throws InterruptedException {
    List<TaskId> ids = submitted(50, 0);
    assertThat(claim(ids, 1)).hasOnlyElementsOfType(ClaimResult.Won.class);
    damage(ids.get(7), damage);
    TimeUnit.MILLISECONDS.sleep(20);
    List<ClaimResult> results = claim(ids, HOUR);
    for (int i = 0; i < ids.size(); i++) {
      assertThat(results.get(i)).isInstanceOf(i == 7 ? ClaimResult.Gone.class : ClaimResult.Won.class);
    }
    assertThat(reported).extracting(SetAside::id).containsExactly(ids.get(7));
  }

  @ParameterizedTest
  @EnumSource(names = {"STATE", "CUT_HEADER", "CUT_TAIL", "EMPTY", "LONG_KEY"})
  void callsOtherThanClaimsSetBadRecordsAside(Damage damage) {
    List<TaskId> ids = submitted(14, HOUR);
    List<TaskRecord> won = claim(submittedNow(), HOUR).stream().map(result -> ((ClaimResult.Won) result).task())
        .toList();
    for (int i = 0; i < 6; i++) {
      damage(ids.get(2 * i), damage);
    }
    damage(won.getFirst().id(), damage);
    assertThat(get(store.touch(List.of(new Touch(key("key 0"), Due.after(2 * HOUR)),
        new Touch(key("key 1"), Due.after(2 * HOUR)), new Touch(new TaskRef.ById(ids.get(2)), Due.after(HOUR))))))
        .extracting(TouchResult::kind).element(1).isEqualTo(TouchResult.Kind.RESET);
    assertThat(get(store.cancel(List.of(new TaskRef.ById(ids.get(4)), new TaskRef.ById(ids.get(3))))))
        .extracting(CancelResult::kind)
        .containsExactly(Cancellation.ALREADY_FINISHED, Cancellation.CANCELLED);
    assertThat(get(store.settle(won.stream().map(Tasks::finished).toList()))).extracting(SettleResult::kind)
        .containsExactly(SettleResult.Kind.STALE, SettleResult.Kind.SETTLED);
    assertThat(get(store.park(List.of(new DueEntry(1, ids.get(6), QUEUE), new DueEntry(1, ids.get(7), QUEUE)))))
        .containsExactly(false, false);
    assertThat(get(store.find(new TaskRef.ById(ids.get(8)))).orElseThrow().state()).isEqualTo(TaskState.FAILED);
    assertThat(get(store.submit(List.of(draft("key 10", HOUR), draft("key 11", HOUR))))).extracting(SubmitResult::kind)
        .containsExactly(SubmitResult.Kind.CREATED, SubmitResult.Kind.RESET);
    assertThat(reported).extracting(SetAside::id).containsExactlyInAnyOrder(ids.get(0), ids.get(2), ids.get(4),
        ids.get(6), ids.get(8), ids.get(10), won.getFirst().id());
    assertThat(get(store.live(100, null)).tasks()).hasSize(14 - 6 - 1 + 1);
  }

  private List<TaskId> submittedNow() {
    return get(store.submit(List.of(draft("now 1", 0), draft("now 2", 0)))).stream().map(SubmitResult::id).toList();
  }

  @ParameterizedTest
  @EnumSource
  void aReadOfAllLiveTasksSetsNoBadRecordAside(Damage damage) {
    List<TaskId> ids = submitted(5, HOUR);
    damage(ids.get(3), damage);
    RecordPage page = get(store.live(100, null));
    assertThat(page.tasks()).extracting(TaskRecord::id).hasSize(4).doesNotContain(ids.get(3));
    assertThat(page.unreadable()).extracting(SetAside::id).containsExactly(ids.get(3));
    assertThat(reported).isEmpty();
  }

  @Test
  void aQuerySetsAsideAnUnreadableRecord() {
    List<TaskId> ids = submitted(5, HOUR);
    damage(ids.get(3), Damage.BIT_OF_THE_PAYLOAD);
    assertThat(get(store.query(QUEUE, TaskState.DELAYED, 100, null)).tasks()).hasSize(4);
    assertSetAside(ids.get(3));
  }

  @Test
  void recordsOfANewerVersionStayUnchanged() {
    List<TaskId> ids = submitted(TASKS, 0);
    TaskId newer = ids.get(BAD);
    byte[] value = with(read(":task", RecordCodec.id(newer)), 0, 2);
    write(":task", RecordCodec.id(newer), value);
    long before = System.currentTimeMillis();
    List<ClaimResult> results = claim(ids, HOUR);
    for (int i = 0; i < TASKS; i++) {
      assertThat(results.get(i)).isInstanceOf(i == BAD ? ClaimResult.Later.class : ClaimResult.Won.class);
    }
    assertThat(((ClaimResult.Later) results.get(BAD)).wakeAt()).as("no new try at once").isGreaterThan(before + 1_000);
    assertThat(due()).as("a node of the newer version finds it").extracting(DueEntry::id).contains(newer);
    StoreException refused = failure(
        store.cancel(List.of(new TaskRef.ById(newer), new TaskRef.ById(ids.getFirst()))));
    assertThat(refused).isInstanceOfSatisfying(ItemsFailedException.class, failed -> {
      assertThat(failed.failure()).isInstanceOf(StoreAwayException.class);
      assertThat(failed.results().getFirst()).isNull();
      assertThat(failed.results().get(1)).isInstanceOf(CancelResult.class);
    });
    assertThat(failure(store.submit(List.of(draft("key " + BAD, 0))))).isInstanceOf(StoreAwayException.class);
    assertThat(failure(store.find(new TaskRef.ById(newer)))).isInstanceOf(StoreAwayException.class);
    assertThat(read(":task", RecordCodec.id(newer))).isEqualTo(value);
    assertThat(reported).isEmpty();
  }

  @Test
  @Tag("long")
  void anUnreadableRecordThatHasExpiredIsNotCounted() {
    store.configure(QUEUE, new QueueTerms(5, Long.MAX_VALUE, HOUR, 0, 0));
    TaskId ended = submitted(1, 0).getFirst();
    assertThat(Tasks.finish(store, Tasks.won(store, ended))).isEqualTo(SettleResult.Kind.SETTLED);
    damage(ended, Damage.VERSION);
    Tasks.eventually("the record is deleted", Duration.ofSeconds(60),
        () -> read(":task", RecordCodec.id(ended)).length == 0);
    assertThat(get(store.counts())).isEmpty();
  }

  @Test
  void aNamespaceOfAnotherFormatIsRefused() {
    for (String format : List.of("2", "99")) {
      assertThat(store.link().command(CommandType.HSET, LAYOUT.global("slots"), Layout.bytes("format"),
          Layout.bytes(format)).join()).isNotNull();
      assertThatThrownBy(() -> RedisStore.open(RedisOptions.builder(server.uri()).slots(1).build()).close())
          .isInstanceOf(StoreException.class).hasMessageContaining("format=" + format).hasMessageContaining("known=3");
    }
  }

  @Test
  void doublingTheSlotsSetsAsideUnreadableRecords() {
    List<TaskId> ids = submitted(200, HOUR);
    damage(ids.get(3), Damage.STATE);
    damage(ids.get(4), Damage.CUT_HEADER);
    damage(ids.get(5), Damage.EMPTY);
    store.doubling().run(far -> {});
    List<TaskId> setAside = reported.stream().map(SetAside::id).toList();
    for (TaskId id : ids) {
      TaskState state = get(store.find(new TaskRef.ById(id))).orElseThrow().state();
      boolean bad = ids.indexOf(id) >= 3 && ids.indexOf(id) <= 5;
      assertThat(state).isEqualTo(bad ? TaskState.FAILED : TaskState.DELAYED);
    }
    assertThat(setAside).isSubsetOf(ids.subList(3, 6));
    assertThat(reported).extracting(SetAside::id).containsExactlyInAnyOrderElementsOf(ids.subList(3, 6));
  }
}
