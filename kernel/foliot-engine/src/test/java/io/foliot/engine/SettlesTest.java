package io.foliot.engine;

import static io.foliot.engine.LoopRig.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.TaskState;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SettleResult;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SettlesTest {
  /** The token of a settlement whose handler throws. */
  private static final int THROWING_TOKEN = 13;
  private static final SettleResult SETTLED = new SettleResult(SettleResult.Kind.SETTLED, TaskState.FINISHED, 0);

  private final LoopRig rig = new LoopRig();
  private final List<Token> recorded = new ArrayList<>();
  private final RoomGate gate = new RoomGate();
  private final Settles settles = new Settles(rig.store, rig.inbox, rig.health, 2, gate, (ending, result, nowNanos) -> {
    Token token = ending.settlement().token();
    if (token.low() == THROWING_TOKEN) {
      throw new IllegalStateException("injected");
    }
    recorded.add(token);
  });

  private RunningAttempt add(int number) {
    return add(number, new Outcome.Finished());
  }

  private RunningAttempt add(int number, Outcome outcome) {
    DueEntry entry = entry(0, 10, number, "q");
    RunningAttempt attempt = new RunningAttempt(rig.lane("q"), rig.claimed(entry, 1_000), null);
    settles.add(attempt, new AttemptEnd(entry.id(), 1, new Token(0, number), outcome, rig.nowMillis(), ""));
    return attempt;
  }

  private LoopRig.Call send() {
    settles.turn(rig.nowNanos);
    return rig.onlyCall("settle");
  }

  private static List<Long> tokens(LoopRig.Call call) {
    return call.<AttemptEnd>items().stream().map(settlement -> settlement.token().low()).toList();
  }

  @Test
  void batchesAreSentInOrder() {
    add(1);
    add(2);
    add(3);
    LoopRig.Call first = send();
    assertThat(tokens(first)).containsExactly(1L, 2L);
    assertThat(tokens(send())).containsExactly(3L);
    assertThat(settles.isIdle()).isFalse();
    rig.answer(first, Collections.nCopies(2, SETTLED));
    assertThat(recorded).hasSize(2);
  }

  @Test
  void aFailedBatchIsSentAgain() {
    add(1);
    RunningAttempt released = add(2);
    LoopRig.Call first = send();
    released.released = true;
    rig.fail(first);
    settles.turn(rig.nowNanos);
    assertThat(rig.calls).as("a failure is followed by a pause").isEmpty();
    rig.advance(20);
    LoopRig.Call second = send();
    assertThat(tokens(second)).as("without the released attempt").containsExactly(1L);
    rig.answer(second, List.of(SETTLED));
    assertThat(recorded).hasSize(1);
    assertThat(settles.isIdle()).isTrue();
  }

  @Test
  void onlyTheEndsThatFailedAreSentAgain() {
    add(1);
    add(2);
    rig.failInPart(send(), SETTLED, null);
    assertThat(recorded).containsExactly(new Token(0, 1));
    rig.advance(20);
    assertThat(tokens(send())).containsExactly(2L);
  }

  @Test
  void aBatchThatFailsAsAWholeIsSentInHalves() {
    add(1);
    add(2);
    add(3);
    rig.fail(send());
    rig.advance(20);
    LoopRig.Call half = send();
    assertThat(tokens(half)).containsExactly(1L);
    rig.fail(half);
    rig.advance(40);
    LoopRig.Call other = send();
    assertThat(tokens(other)).as("the other half").containsExactly(2L);
    rig.answer(other, List.of(SETTLED));
    LoopRig.Call rest = send();
    assertThat(tokens(rest)).as("the end that failed alone is the last").containsExactly(3L, 1L);
    rig.answer(rest, Collections.nCopies(2, SETTLED));
    assertThat(recorded).hasSize(3);
    assertThat(settles.isIdle()).isTrue();
  }

  @Test
  void anEndWithoutRoomIsHeldAndClosesTheGate() {
    add(1);
    RunningAttempt attempt = add(2);
    rig.full(send(), SETTLED, null);
    assertThat(recorded).containsExactly(new Token(0, 1));
    assertThat(gate.isOpen()).isFalse();
    assertThat(attempt.held).isTrue();
    assertThat(rig.health.isServing(rig.nowNanos)).as("the store answers").isTrue();
    add(3);
    LoopRig.Call next = send();
    assertThat(tokens(next)).as("other ends do not wait").containsExactly(3L);
    rig.answer(next, List.of(SETTLED));
    assertThat(gate.limit(rig.nowNanos)).as("an end is held").isZero();
    attempt.released = true;
    rig.advance(20);
    LoopRig.Call again = send();
    assertThat(tokens(again)).as("though its lease is over").containsExactly(2L);
    rig.answer(again, List.of(SETTLED));
    assertThat(gate.isOpen()).isTrue();
    assertThat(settles.isIdle()).isTrue();
  }

  @Test
  void anEndWhoseTasksFindNoRoomMakesItsTaskDueAgain() {
    Outcome.Child child = new Outcome.Child(entry(0, 10, 77, "q").id(), "q", Due.NOW, Body.EMPTY, 1, false);
    add(1, new Outcome.Rearm(Due.NOW, Body.json("1"), List.of(child)));
    rig.full(send(), new Object[]{null});
    assertThat(gate.isOpen()).as("an end needs no room").isTrue();
    rig.advance(20);
    LoopRig.Call again = send();
    assertThat(again.<AttemptEnd>items()).extracting(AttemptEnd::outcome)
        .containsExactly(new Outcome.Rearm(Due.after(Settles.UNPLANNED_MILLIS)));
  }

  @Test
  void aHandlerThatThrowsStopsNoOtherHandler() {
    add(THROWING_TOKEN);
    add(14);
    rig.answer(send(), Collections.nCopies(2, SETTLED));
    assertThat(recorded).containsExactly(new Token(0, 14));
  }
}
