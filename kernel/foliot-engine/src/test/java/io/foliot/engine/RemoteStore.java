package io.foliot.engine;

import static java.util.Objects.requireNonNull;

import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskStore;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A store that others may use, too, which can be away or mute, refuse writes, lose replies, and seem to have half its
 * slots.
 */
final class RemoteStore implements InvocationHandler {
  private @Nullable TaskStore sound;
  private static final Set<String> WRITES = Set.of("submit", "touch", "cancel", "claim", "park", "settle");

  boolean away;
  /** Does nothing and answers nothing, ever. */
  boolean mute;
  boolean refusesWrites;
  boolean halved;
  /** Keeps the answers of claims and parks until {@link #answerSlowly}. */
  boolean slow;
  /** Keeps the answers of head polls, too. */
  boolean slowDue;
  /** Factor by which the answers of head polls take longer. */
  int rounds = 1;
  /** Whether reads of parked entries are slow, too. */
  boolean slowParked;
  /** Keeps the answers about all queues, too. */
  boolean slowDocuments;
  /** Returns only a few parked entries per call. */
  boolean shortPages;
  long parked;
  /** The number of reads of the settings of all queues. */
  long queueReads;
  long permitWrites;
  /** The number of reads of a single task. */
  long finds;
  /** The number of tasks that claims named. */
  long asked;
  /** The answer to a read of the settings of all queues, if not the truth. */
  @Nullable
  List<Document> documents;
  private final List<Runnable> answers = new ArrayList<>();
  private final List<Runnable> later = new ArrayList<>();
  @Nullable
  String losesReplyOf;

  /** A store that passes its calls on to a sound one, as long as it is well. */
  TaskStore over(TaskStore store) {
    sound = store;
    return (TaskStore) Proxy.newProxyInstance(TaskStore.class.getClassLoader(), new Class<?>[]{TaskStore.class}, this);
  }

  private CompletableFuture<Object> later(@Nullable Object answer, int inRounds) {
    CompletableFuture<Object> promise = new CompletableFuture<>();
    Object result = requireNonNull((CompletionStage<?>) answer).toCompletableFuture().join();
    answerIn(inRounds, () -> promise.complete(result));
    return promise;
  }

  private void answerIn(int inRounds, Runnable answer) {
    answers.add(inRounds == 1 ? answer : () -> later.add(() -> answerIn(inRounds - 1, answer)));
  }

  void answerSlowly() {
    List<Runnable> answered = List.copyOf(answers);
    answers.clear();
    answered.forEach(Runnable::run);
    List<Runnable> kept = List.copyOf(later);
    later.clear();
    kept.forEach(Runnable::run);
  }

  private TaskStore sound() {
    return requireNonNull(sound);
  }

  @Override
  public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
    if (method.getName().equals("isShared")) {
      return true;
    }
    if (method.getName().equals("slotCount") && halved) {
      return sound().slotCount() / 2;
    }
    if (!CompletionStage.class.isAssignableFrom(method.getReturnType())) {
      return call(method, arguments);
    }
    if (mute) {
      return new CompletableFuture<>();
    }
    if (away || (refusesWrites && WRITES.contains(method.getName()))) {
      return CompletableFuture.failedFuture(new StoreException("the store is unavailable", null));
    }
    if (method.getName().equals("due") && halved && arguments != null) {
      return halves(arguments);
    }
    if (method.getName().equals("park") && arguments != null) {
      parked += ((List<?>) arguments[0]).size();
      if (slow) {
        return later(call(method, arguments), 1);
      }
    }
    if (method.getName().equals("claim") && arguments != null) {
      asked += ((List<?>) arguments[0]).size();
    }
    if (method.getName().equals("find")) {
      finds++;
    }
    if (method.getName().equals("writeDocument") && arguments != null && arguments[0] == DocumentKind.PERMITS) {
      permitWrites++;
    }
    if (method.getName().equals("documents") && arguments != null && arguments[0] == DocumentKind.QUEUE) {
      queueReads++;
    }
    if (method.getName().equals("documents") && documents != null && arguments != null
        && arguments[0] == DocumentKind.QUEUE) {
      return CompletableFuture.completedFuture(documents);
    }
    Object answer = call(method, arguments);
    if (method.getName().equals("due") && slowDue) {
      return later(answer, rounds);
    }
    if ((method.getName().equals("claim") && slow) || (method.getName().equals("parked") && slowParked)
        || (method.getName().equals("documents") && slowDocuments)) {
      return later(answer, 1);
    }
    if (method.getName().equals("parked") && shortPages) {
      List<?> page = (List<?>) requireNonNull((CompletionStage<?>) answer).toCompletableFuture().join();
      return CompletableFuture.completedFuture(page.subList(0, Math.min(page.size(), 10)));
    }
    if (method.getName().equals(losesReplyOf)) {
      losesReplyOf = null;
      return CompletableFuture.failedFuture(new StoreException("the reply is lost", null));
    }
    return answer;
  }

  private @Nullable Object call(Method method, Object @Nullable [] arguments) throws Throwable {
    try {
      return method.invoke(sound(), arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  @SuppressWarnings("unchecked")
  private CompletionStage<List<DueSlice>> halves(Object[] arguments) {
    int slots = sound().slotCount() / 2;
    return CompletableFuture.completedFuture(((List<DueScan>) arguments[0]).stream().map(scan -> {
      List<DueEntry> entries = Stream.of(scan.slot(), scan.slot() + slots)
          .map(slot -> new DueScan(slot, scan.fromWakeAt(), scan.after(), scan.toWakeAt(), scan.limit()))
          .flatMap(half -> sound().due(List.of(half)).toCompletableFuture().join().getFirst().entries().stream())
          .sorted(Comparator.comparingLong(DueEntry::wakeAt).thenComparing(DueEntry::id)).toList();
      boolean more = entries.size() > scan.limit();
      return new DueSlice(scan.slot(), more ? entries.subList(0, scan.limit()) : entries, more);
    }).toList());
  }
}
