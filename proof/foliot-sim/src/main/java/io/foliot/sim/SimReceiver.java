package io.foliot.sim;

import io.foliot.api.Target;
import io.foliot.core.Token;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.core.delivery.ServedQueues;
import io.foliot.core.store.TaskRecord;
import io.foliot.history.Event;
import io.foliot.history.History;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A receiver with many faults. It fails, is slow, and answers too late or never. It accepts some attempts, whose ends
 * are then reported later, twice or never. All nodes share one receiver, which outlives the nodes.
 */
final class SimReceiver {
  /** The type of the receiver's targets. */
  static final String TYPE = "sim";

  private static final int PERCENTS = 100;
  /** Lowest percent (0 to 99, drawn for each attempt) that makes an attempt succeed in normal time. */
  private static final int SUCCESS_FROM = 34;

  /** A client that reports the ends of accepted attempts, and is notified of refused attempts. */
  interface Listener {
    /**
     * Called some time after an attempt was accepted, unless its end is never reported. The listener then reports the
     * end.
     *
     * @param delivery the number of the delivery in the history
     */
    void accepted(TaskRecord task, long delivery);

    /** Called when an attempt was refused permanently. */
    void refused(TaskRecord task);

    /** Called when an attempt has begun. */
    default void began(TaskRecord task) {}
  }

  private final Sim sim;
  private final SplittableRandom random;
  private final History history;
  private final Set<Token> begun = new HashSet<>();
  private Listener listener = new Listener() {
    @Override
    public void accepted(TaskRecord task, long delivery) {}

    @Override
    public void refused(TaskRecord task) {}
  };
  private boolean well;

  SimReceiver(Sim sim, SplittableRandom random, History history) {
    this.sim = sim;
    this.random = random;
    this.history = history;
    well = sim.world().isCalm();
  }

  void setListener(Listener newListener) {
    listener = newListener;
  }

  /** Returns whether the attempt of a claim has begun; false if {@code token} is null. */
  boolean hasBegun(@Nullable Token token) {
    return token != null && begun.contains(token);
  }

  /** Ends the faults. */
  void heal() {
    well = true;
  }

  /**
   * Returns the delivery through which a process calls the receiver.
   *
   * @param serves returns whether the process has a handler for a queue
   * @param claimsAll whether the process states that it has handlers for all queues
   * @param unmet receives a message for each attempt of a queue for which the process has no handler
   */
  Delivery of(NodeProcess process, Predicate<String> serves, boolean claimsAll, Consumer<String> unmet) {
    return new NodeDelivery(process, serves, claimsAll, unmet);
  }

  private final class NodeDelivery implements Delivery, ServedQueues {
    private final NodeProcess process;
    private final Predicate<String> serves;
    private final boolean claimsAll;
    private final Consumer<String> unmet;

    NodeDelivery(NodeProcess process, Predicate<String> serves, boolean claimsAll, Consumer<String> unmet) {
      this.process = process;
      this.serves = serves;
      this.claimsAll = claimsAll;
      this.unmet = unmet;
    }

    @Override
    public ServedQueues servedQueues() {
      return this;
    }

    @Override
    public boolean contains(String queue) {
      return claimsAll || serves.test(queue);
    }

    @Override
    public void addListener(Consumer<String> changed) {
      // The handlers of a process never change.
    }

    @Override
    public String type() {
      return TYPE;
    }

    @Override
    public CompletionStage<Void> check(Target target) {
      if (!target.type().equals(TYPE)) {
        throw new IllegalArgumentException("not a simulated target: type=" + target.type());
      }
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public String destination(Target target) {
      return "receiver";
    }

    @Override
    public CompletionStage<Answer> deliver(DeliveryAttempt attempt) {
      int percent = well ? PERCENTS - 1 : random.nextInt(PERCENTS);
      if (percent == 0) {
        sim.coverage().count(Coverage.Case.DELIVERY_THREW);
        throw new IllegalStateException("injected: no delivery should throw");
      }
      TaskRecord task = attempt.task();
      if (!serves.test(task.queue())) {
        unmet.accept("a node claims only tasks for which it has a handler: queue=" + task.queue());
      }
      if (task.token() != null) {
        begun.add(task.token());
      }
      listener.began(task);
      sim.trace().add("receiver", "gets " + task.id(), sim.schedule().nowMillis() - task.dueAt());
      long delivery = history.began(sim.schedule().nowMillis(),
          new io.foliot.history.Attempt(task.id().toString(), task.queue(), task.key(), task.generation(),
              attempt.firingId(), task.attempt(), task.dueAt()));
      CompletableFuture<Answer> answer = new CompletableFuture<>();
      long timeoutMillis = attempt.target().timeout().toMillis();
      long tookMillis = well ? 1 + random.nextLong(20) : random.nextLong(1, Math.max(2, timeoutMillis / 4));
      behave(percent, tookMillis, timeoutMillis, task, delivery, answer);
      return answer;
    }

    /** Ends an attempt. {@code percent}, from 1 to 99, selects how; for 0, the caller has thrown an exception. */
    private void behave(int percent, long tookMillis, long timeoutMillis, TaskRecord task, long delivery,
        CompletableFuture<Answer> answer) {
      if (percent < 10) {
        reply(tookMillis, delivery, Event.Reception.RETRY, answer,
            new Answer.Retry(null, Answer.Health.WELL, "failed"));
      } else if (percent < 13) {
        reply(tookMillis, delivery, Event.Reception.RETRY, answer,
            new Answer.Retry(Duration.ofMillis(random.nextLong(2_000)), Answer.Health.OVERLOADED, "overloaded"));
      } else if (percent < 15) {
        reply(tookMillis, delivery, Event.Reception.REFUSED, answer, new Answer.Fail("never"));
        listener.refused(task);
      } else if (percent < 19) {
        // Gives no answer, but may have done the work.
        answer(timeoutMillis, answer, new Answer.Retry(null, Answer.Health.UNREACHABLE, "no answer"));
      } else if (percent < 20) {
        // Gives no answer, and the delivery has no timeout.
        sim.coverage().count(Coverage.Case.DELIVERY_NEVER_ANSWERED);
      } else if (percent < 23) {
        // Does the work, and answers when the node no longer waits.
        answer(timeoutMillis, answer, new Answer.Retry(null, Answer.Health.UNREACHABLE, "no answer in time"));
        sim.schedule().afterMillis(timeoutMillis + random.nextLong(2_000),
            () -> history.replied(delivery, sim.schedule().nowMillis(), Event.Reception.GONE));
      } else if (percent < 27) {
        answer(tookMillis, answer, new Answer.Accepted(""));
        if (random.nextInt(4) != 0) {
          sim.schedule().afterMillis(tookMillis + random.nextLong(2_000), () -> listener.accepted(task, delivery));
        }
      } else if (percent < 30) {
        reply(tookMillis, delivery, Event.Reception.AGAIN, answer,
            new Answer.Again(Duration.ofMillis(random.nextLong(3_000)), ""));
      } else if (percent < SUCCESS_FROM) {
        // Answers just in time.
        reply(timeoutMillis - 1, delivery, Event.Reception.SUCCESS, answer, new Answer.Done(""));
      } else {
        reply(tookMillis, delivery, Event.Reception.SUCCESS, answer, new Answer.Done(""));
      }
    }

    private void answer(long afterMillis, CompletableFuture<Answer> answer, Answer given) {
      sim.schedule().afterMillis(afterMillis, () -> process.run(() -> answer.complete(given)));
    }

    /** Records and gives an answer. If the process is dead, a success or a re-arm is recorded as GONE. */
    private void reply(long afterMillis, long delivery, Event.Reception reception, CompletableFuture<Answer> answer,
        Answer given) {
      sim.schedule().afterMillis(afterMillis, () -> {
        boolean isReceived = process.isAlive()
            || (reception != Event.Reception.SUCCESS && reception != Event.Reception.AGAIN);
        history.replied(delivery, sim.schedule().nowMillis(), isReceived ? reception : Event.Reception.GONE);
        process.run(() -> answer.complete(given));
      });
    }

    @Override
    public void close() {
      // There is nothing to close.
    }
  }
}
