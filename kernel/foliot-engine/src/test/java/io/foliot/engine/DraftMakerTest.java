package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.Limits;
import io.foliot.api.OnConflict;
import io.foliot.core.Scheduler.UnknownQueueException;
import io.foliot.core.Submission;
import io.foliot.core.store.Draft;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class DraftMakerTest {
  private static final int SLOTS = 1 << 12;
  private static final Body BODY = Body.json("1");

  private final LoopRig rig = new LoopRig();
  private final DraftMaker maker = new DraftMaker(rig.registry, rig.random);

  @BeforeEach
  void putQueues() {
    rig.local("a");
    rig.local("b");
  }

  private static Submission submission(String queue, @Nullable String key, @Nullable String idempotencyKey) {
    return new Submission(queue, key, Duration.ZERO, null, BODY, 3, OnConflict.KEEP, idempotencyKey);
  }

  private Draft draft(Submission submission) {
    return maker.drafts(List.of(submission), LoopRig.START_MILLIS).getFirst();
  }

  private int slot(String queue, @Nullable String key, @Nullable String idempotencyKey) {
    return draft(submission(queue, key, idempotencyKey)).id().slot(SLOTS);
  }

  private Due due(Instant dueAt) {
    return draft(Submission.at("a", dueAt, BODY)).due();
  }

  @Test
  void allTasksOfAKeyAreInOneSlot() {
    int slot = slot("a", "key", null);
    assertThat(slot("a", "key", "request")).isEqualTo(slot);
    assertThat(slot("a", "key", "other")).isEqualTo(slot);
    assertThat(slot("b", "key", null)).isNotEqualTo(slot);
    assertThat(slot("a", "other", null)).isNotEqualTo(slot);
  }

  @Test
  void withoutAKeyTheIdempotencyKeyDecidesTheSlot() {
    int slot = slot("a", null, "request");
    assertThat(slot("a", null, "request")).isEqualTo(slot);
    assertThat(slot("a", null, "other")).isNotEqualTo(slot);
  }

  @Test
  void tasksWithoutAnyKeySpreadOverTheSlots() {
    List<Draft> drafts = maker.drafts(Collections.nCopies(200, submission("a", null, null)), LoopRig.START_MILLIS);
    assertThat(drafts.stream().map(draft -> draft.id().slot(SLOTS)).distinct().count()).isGreaterThan(150);
  }

  @Test
  void allDraftsHaveDifferentIds() {
    List<Draft> drafts = maker.drafts(Collections.nCopies(200, submission("a", "key", null)), LoopRig.START_MILLIS);
    assertThat(drafts).extracting(Draft::id).doesNotHaveDuplicates();
  }

  @Test
  void dueTimesAreRoundedUpToMilliseconds() {
    assertThat(due(Instant.ofEpochMilli(5_000))).isEqualTo(Due.at(5_000));
    assertThat(due(Instant.ofEpochMilli(5_000).plusNanos(1))).isEqualTo(Due.at(5_001));
    assertThat(draft(Submission.after("a", Duration.ofNanos(1), BODY)).due()).isEqualTo(Due.after(1));
    assertThat(draft(Submission.after("a", Duration.ofNanos(2_000_001), BODY)).due()).isEqualTo(Due.after(3));
  }

  @Test
  void aDueTimeBeforeTheEpochIsTheEpoch() {
    assertThat(due(Instant.MIN)).isEqualTo(Due.at(0));
    assertThat(due(Instant.EPOCH.minusNanos(1))).isEqualTo(Due.at(0));
  }

  @Test
  void aDueTimeBeyondTheLimitIsRefused() {
    Instant last = Instant.ofEpochMilli(LoopRig.START_MILLIS + Limits.MAX_DELAY_MILLIS);
    assertThat(due(last)).isEqualTo(Due.at(last.toEpochMilli()));
    for (Instant late : List.of(last.plusSeconds(1), Instant.MAX)) {
      assertThatThrownBy(() -> due(late)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("dueAt=");
    }
  }

  @Test
  void onlyASubmissionWithAnIdempotencyKeyHasADigest() {
    assertThat(draft(submission("a", "key", null)).idempotency()).isNull();
    Draft.Idempotency first = Objects.requireNonNull(draft(submission("a", "key", "request")).idempotency());
    assertThat(first.key()).isEqualTo("request");
    assertThat(draft(submission("a", "key", "request")).idempotency()).isEqualTo(first);
    Submission other = new Submission("a", "key", Duration.ZERO, null, Body.json("2"), 3, OnConflict.KEEP, "request");
    assertThat(Objects.requireNonNull(draft(other).idempotency()).digest()).isNotEqualTo(first.digest());
  }

  @Test
  void anUnknownQueueFailsAllSubmissionsOfACall() {
    List<Submission> batch = List.of(submission("a", null, null), submission("gone", null, null));
    assertThatThrownBy(() -> maker.drafts(batch, LoopRig.START_MILLIS)).isInstanceOf(UnknownQueueException.class);
  }
}
