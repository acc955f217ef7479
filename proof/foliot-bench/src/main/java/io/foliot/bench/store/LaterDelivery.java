package io.foliot.bench.store;

import io.foliot.api.Target;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.delivery.DeliveryAttempt;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

/** A delivery whose attempts succeed after a fixed time, and occupy no thread until then. */
final class LaterDelivery implements Delivery {
  private final long nanos;
  private final IntConsumer begun;

  /**
   * Creates the delivery.
   *
   * @param time the time from the beginning of an attempt to its answer
   * @param begun called with the number of each task that begins
   */
  LaterDelivery(Duration time, IntConsumer begun) {
    nanos = time.toNanos();
    this.begun = begun;
  }

  @Override
  public String type() {
    return Target.LOCAL;
  }

  @Override
  public CompletionStage<Void> check(Target target) {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public String destination(Target target) {
    return Target.LOCAL;
  }

  @Override
  public CompletionStage<Answer> deliver(DeliveryAttempt attempt) {
    begun.accept(FoliotNode.number(attempt.task().body()));
    return new CompletableFuture<Answer>().completeOnTimeout(new Answer.Done(""), nanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void close() {}
}
