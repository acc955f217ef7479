package io.foliot.core.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Target;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.store.TaskRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Tests the delivery to handlers in this process. */
final class LocalDeliveryTest {
  private static DeliveryAttempt attempt(String queue) {
    TaskRecord task = TaskRecord.edit(new TaskId(1, 2), queue, null).body(Body.EMPTY).state(TaskState.RUNNING)
        .attempt(1)
        .token(new Token(3, 4)).leaseEnd(10).wakeAt(10).done();
    return new DeliveryAttempt(task, Target.local(), "");
  }

  private static Answer answer(LocalDelivery delivery, String queue) throws Exception {
    return delivery.deliver(attempt(queue)).toCompletableFuture().get(10, TimeUnit.SECONDS);
  }

  @Test
  void servesTheQueuesThatHaveAHandler() {
    LocalDelivery delivery = new LocalDelivery(Runnable::run);
    List<String> changed = new ArrayList<>();
    delivery.addListener(changed::add);
    delivery.handle("a", attempt -> new Answer.Done(""));
    assertThat(delivery.servedQueues().contains("a")).isTrue();
    assertThat(delivery.servedQueues().contains("b")).isFalse();
    delivery.remove("a");
    assertThat(delivery.servedQueues().contains("a")).isFalse();
    assertThat(changed).containsExactly("a", "a");
  }

  @Test
  void aTaskThatTheExecutorRefusesHasNotBegun() throws Exception {
    LocalDelivery delivery = new LocalDelivery(work -> {
      throw new RejectedExecutionException();
    });
    delivery.handle("a", attempt -> new Answer.Done(""));
    assertThat(answer(delivery, "a")).isInstanceOfSatisfying(Answer.NotBegun.class,
        refused -> assertThat(refused.health()).isEqualTo(Answer.Health.OVERLOADED));
    delivery.remove("a");
    assertThat(answer(delivery, "a")).isInstanceOfSatisfying(Answer.NotBegun.class,
        refused -> assertThat(refused.health()).isEqualTo(Answer.Health.WELL));
  }

  @Test
  void aCancelledHandlerIsInterruptedAndItsThreadReused() throws Exception {
    try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
      LocalDelivery delivery = new LocalDelivery(threads);
      CountDownLatch begun = new CountDownLatch(1);
      CountDownLatch interrupted = new CountDownLatch(1);
      delivery.handle("slow", attempt -> {
        begun.countDown();
        try {
          new CountDownLatch(1).await();
        } catch (InterruptedException e) {
          interrupted.countDown();
        }
        return new Answer.Done("");
      });
      AtomicBoolean isUninterrupted = new AtomicBoolean();
      delivery.handle("next", attempt -> {
        isUninterrupted.set(!Thread.currentThread().isInterrupted());
        return new Answer.Done("");
      });
      CompletableFuture<Answer> slow = delivery.deliver(attempt("slow")).toCompletableFuture();
      assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
      slow.cancel(true);
      assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(answer(delivery, "next")).isInstanceOf(Answer.Done.class);
      assertThat(isUninterrupted).isTrue();
    }
  }

  @Test
  void interruptHandlersInterruptsAllRunningHandlers() throws Exception {
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      LocalDelivery delivery = new LocalDelivery(threads);
      CountDownLatch begun = new CountDownLatch(2);
      delivery.handle("slow", attempt -> {
        begun.countDown();
        new CountDownLatch(1).await();
        return new Answer.Done("");
      });
      List<CompletionStage<Answer>> slow = List.of(delivery.deliver(attempt("slow")),
          delivery.deliver(attempt("slow")));
      assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
      delivery.interruptHandlers();
      for (CompletionStage<Answer> answer : slow) {
        assertThat(answer.toCompletableFuture().get(10, TimeUnit.SECONDS)).isInstanceOfSatisfying(Answer.Retry.class,
            retry -> assertThat(retry.detail()).contains("InterruptedException"));
      }
    }
  }

  @Test
  void anAttemptCancelledBeforeItsTurnNeverBegins() {
    List<Runnable> waiting = new ArrayList<>();
    LocalDelivery delivery = new LocalDelivery(waiting::add);
    AtomicBoolean begun = new AtomicBoolean();
    delivery.handle("q", attempt -> {
      begun.set(true);
      return new Answer.Done("");
    });
    delivery.deliver(attempt("q")).toCompletableFuture().cancel(true);
    waiting.forEach(Runnable::run);
    assertThat(begun).isFalse();
  }

  @Test
  void aHandlerThatThrowsFailsItsAttempt() throws Exception {
    LocalDelivery delivery = new LocalDelivery(Runnable::run);
    delivery.handle("q", attempt -> {
      throw new IllegalStateException("broken");
    });
    assertThat(answer(delivery, "q")).isInstanceOfSatisfying(Answer.Retry.class,
        retry -> assertThat(retry.detail()).contains("broken"));
  }
}
