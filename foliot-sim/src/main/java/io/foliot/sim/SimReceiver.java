package io.foliot.sim;

import io.foliot.core.Target;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Attempt;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.store.TaskRecord;
import io.foliot.sim.history.Event;
import io.foliot.sim.history.History;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;

/** A receiver with every bad habit: fails, is slow, answers too late or never, says "later" and reports, or forgets to. */
final class SimReceiver implements Delivery {
  private static final int MANY = 100;

  private final Schedule schedule;
  private final SplittableRandom luck;
  private final History history;
  private final BiConsumer<TaskRecord, Long> reportsLater;
  private boolean healed;
  private boolean alive = true;

  /** @param reportsLater told of an attempt that was accepted and the number of its delivery, when its end is to be reported */
  SimReceiver(Schedule schedule, SplittableRandom luck, History history, BiConsumer<TaskRecord, Long> reportsLater) {
    this.schedule = schedule;
    this.luck = luck;
    this.history = history;
    this.reportsLater = reportsLater;
  }

  void heal() {
    healed = true;
  }

  /** The node that delivers has died: nobody reads the answers any more. */
  void callerDied() {
    alive = false;
  }

  @Override
  public String type() {
    return "sim";
  }

  @Override
  public void check(Target target) {
    if (!target.type().equals(type())) {
      throw new IllegalArgumentException("not a simulated target: type=" + target.type());
    }
  }

  @Override
  public String destination(Target target) {
    return "receiver";
  }

  @Override
  public CompletionStage<Answer> deliver(Attempt attempt) {
    TaskRecord task = attempt.task();
    long delivery = history.began(schedule.nowMillis(), new io.foliot.sim.history.Attempt(task.id().toString(),
        task.queue(), task.key(), task.generation(), attempt.firingId(), task.attempt(), task.dueAt()));
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    long timeoutMillis = attempt.target().timeout().toMillis();
    int habit = healed ? MANY - 1 : luck.nextInt(MANY);
    long tookMillis = luck.nextLong(1, Math.max(2, timeoutMillis / 4));
    if (habit < 10) {
      replyAfter(tookMillis, delivery, Event.Reception.RETRY, answer,
          new Answer.Retry(null, Answer.Health.WELL, "failed"));
    } else if (habit < 13) {
      replyAfter(tookMillis, delivery, Event.Reception.RETRY, answer,
          new Answer.Retry(Duration.ofMillis(luck.nextLong(2_000)), Answer.Health.OVERLOADED, "less, please"));
    } else if (habit < 15) {
      replyAfter(tookMillis, delivery, Event.Reception.REFUSED, answer, new Answer.Fail("never"));
    } else if (habit < 20) {
      // Never answers, whether it did the work or not.
      schedule.afterMillis(timeoutMillis,
          () -> answer.complete(new Answer.Retry(null, Answer.Health.UNREACHABLE, "no answer")));
    } else if (habit < 23) {
      schedule.afterMillis(timeoutMillis, () -> {
        answer.complete(new Answer.Retry(null, Answer.Health.UNREACHABLE, "no answer in time"));
        history.replied(delivery, schedule.nowMillis(), Event.Reception.GONE);
      });
    } else if (habit < 27) {
      schedule.afterMillis(tookMillis, () -> {
        answer.complete(new Answer.Accepted(""));
        if (luck.nextInt(4) != 0) {
          schedule.afterMillis(luck.nextLong(2_000), () -> reportsLater.accept(task, delivery));
        }
      });
    } else if (habit < 30) {
      replyAfter(tookMillis, delivery, Event.Reception.AGAIN, answer,
          new Answer.Again(Duration.ofMillis(luck.nextLong(3_000)), ""));
    } else {
      replyAfter(tookMillis, delivery, Event.Reception.SUCCESS, answer, new Answer.Done(""));
    }
    return answer;
  }

  private void replyAfter(long delayMillis, long delivery, Event.Reception reception, CompletableFuture<Answer> answer,
      Answer given) {
    schedule.afterMillis(delayMillis, () -> {
      boolean heard = alive || (reception != Event.Reception.SUCCESS && reception != Event.Reception.AGAIN);
      history.replied(delivery, schedule.nowMillis(), heard ? reception : Event.Reception.GONE);
      answer.complete(given);
    });
  }

  @Override
  public void close() {
    // Nothing to give back.
  }
}
