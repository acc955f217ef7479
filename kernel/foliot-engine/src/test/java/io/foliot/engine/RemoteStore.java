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

/** A shared store with faults that a test sets. */
final class RemoteStore implements InvocationHandler {
  private @Nullable TaskStore delegate;
  private static final Set<String> WRITES = Set.of("submit", "touch", "cancel", "claim", "park", "settle");

  /** Whether all asynchronous calls fail. */
  boolean away;
  /** Whether asynchronous calls have no effect and never get an answer. */
  boolean mute;
  /** Whether calls of {@link #WRITES} fail. */
  boolean refusesWrites;
  /** Whether each pair of slots appears as one slot. */
  boolean halved;
  /** Whether answers of claims and parks are withheld until {@link #releaseAnswers}. */
  boolean slow;
  /** Whether answers of reads of the index are withheld. */
  boolean slowDue;
  /** A withheld read of the index is answered after this many calls of {@link #releaseAnswers}. */
  int rounds = 1;
  /** Whether answers of reads of parked entries are withheld. */
  boolean slowParked;
  /** Whether answers of reads of the clock are withheld. */
  boolean slowClock;
  /** Whether answers of reads of all documents of a kind are withheld. */
  boolean slowDocuments;
  /** Whether answers of extensions of leases are withheld. */
  boolean slowExtensions;
  /** Whether a read of parked entries returns at most 10 of them. */
  boolean shortPages;
  /** The number of entries in calls of {@code park}. */
  long parked;
  /** The number of reads of the settings of all queues. */
  long queueReads;
  /** The number of writes of documents of permits. */
  long permitWrites;
  /** The number of reads of a single task. */
  long finds;
  /** The number of tasks in calls of {@code claim}. */
  long claimItems;
  /** The answer to a read of the settings of all queues; if null, the store answers. */
  @Nullable
  List<Document> documents;
  /** The actions of the next call of {@link #releaseAnswers}. */
  private final List<Runnable> answers = new ArrayList<>();
  /** The actions that withhold answers for a further round. */
  private final List<Runnable> later = new ArrayList<>();
  /** The name of the method whose next reply is lost, or null. The call itself takes effect. */
  @Nullable
  String lostReplyOf;

  /** Returns a store that passes calls on to {@code store}, except for the faults that are set. */
  TaskStore over(TaskStore store) {
    delegate = store;
    return (TaskStore) Proxy.newProxyInstance(TaskStore.class.getClassLoader(), new Class<?>[]{TaskStore.class}, this);
  }

  private CompletableFuture<Object> withheld(@Nullable Object answer, int inRounds) {
    CompletableFuture<Object> promise = new CompletableFuture<>();
    Object result = requireNonNull((CompletionStage<?>) answer).toCompletableFuture().join();
    answerIn(inRounds, () -> promise.complete(result));
    return promise;
  }

  private void answerIn(int inRounds, Runnable answer) {
    answers.add(inRounds == 1 ? answer : () -> later.add(() -> answerIn(inRounds - 1, answer)));
  }

  /** Gives the withheld answers that have waited for their number of rounds. */
  void releaseAnswers() {
    List<Runnable> answered = List.copyOf(answers);
    answers.clear();
    answered.forEach(Runnable::run);
    List<Runnable> kept = List.copyOf(later);
    later.clear();
    kept.forEach(Runnable::run);
  }

  private TaskStore delegate() {
    return requireNonNull(delegate);
  }

  @Override
  public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
    if (method.getName().equals("isShared")) {
      return true;
    }
    if (method.getName().equals("slotCount") && halved) {
      return delegate().slotCount() / 2;
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
      return dueOfHalvedSlots(arguments);
    }
    if (method.getName().equals("park") && arguments != null) {
      parked += ((List<?>) arguments[0]).size();
      if (slow) {
        return withheld(call(method, arguments), 1);
      }
    }
    if (method.getName().equals("claim") && arguments != null) {
      claimItems += ((List<?>) arguments[0]).size();
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
      return withheld(answer, rounds);
    }
    if ((method.getName().equals("claim") && slow) || (method.getName().equals("parked") && slowParked)
        || (method.getName().equals("timeMicros") && slowClock)
        || (method.getName().equals("documents") && slowDocuments)
        || (method.getName().equals("extend") && slowExtensions)) {
      return withheld(answer, 1);
    }
    if (method.getName().equals("parked") && shortPages) {
      List<?> page = (List<?>) requireNonNull((CompletionStage<?>) answer).toCompletableFuture().join();
      return CompletableFuture.completedFuture(page.subList(0, Math.min(page.size(), 10)));
    }
    if (method.getName().equals(lostReplyOf)) {
      lostReplyOf = null;
      return CompletableFuture.failedFuture(new StoreException("the reply is lost", null));
    }
    return answer;
  }

  private @Nullable Object call(Method method, Object @Nullable [] arguments) throws Throwable {
    try {
      return method.invoke(delegate(), arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  @SuppressWarnings("unchecked")
  private CompletionStage<List<DueSlice>> dueOfHalvedSlots(Object[] arguments) {
    int slots = delegate().slotCount() / 2;
    return CompletableFuture.completedFuture(((List<DueScan>) arguments[0]).stream().map(scan -> {
      List<DueEntry> entries = Stream.of(scan.slot(), scan.slot() + slots)
          .map(slot -> new DueScan(slot, scan.fromWakeAt(), scan.after(), scan.toWakeAt(), scan.limit()))
          .flatMap(half -> delegate().due(List.of(half)).toCompletableFuture().join().getFirst().entries().stream())
          .sorted(Comparator.comparingLong(DueEntry::wakeAt).thenComparing(DueEntry::id)).toList();
      boolean more = entries.size() > scan.limit();
      return new DueSlice(scan.slot(), more ? entries.subList(0, scan.limit()) : entries, more);
    }).toList());
  }
}
