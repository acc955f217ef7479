package io.foliot.wheel;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** Races producers and consumers of a queue of tasks whose arrays have two cells. */
final class QueueStress {
  private static final int CELLS = 2;

  private QueueStress() {}

  /** A task that is the n-th of its producer. */
  private record Numbered(char producer, int n) implements Runnable {
    @Override
    public void run() {}
  }

  private static void addBatch(TaskQueue queue, char producer, int count) {
    @Nullable
    Runnable[] tasks = new Runnable[count];
    for (int n = 0; n < count; n++) {
      tasks[n] = new Numbered(producer, n);
    }
    for (int added = 0; added < count;) {
      added = queue.add(tasks, added, count);
    }
  }

  private static void poll(TaskQueue queue, List<Numbered> to) {
    Runnable task = queue.poll();
    if (task != null) {
      to.add((Numbered) task);
    }
  }

  private static void drain(TaskQueue queue, List<Numbered> to) {
    for (int before = -1; before < to.size();) {
      before = to.size();
      poll(queue, to);
    }
  }

  /** Returns whether the tasks of a producer are in their order. */
  private static boolean isInOrder(List<Numbered> tasks, char producer) {
    int last = -1;
    for (Numbered task : tasks) {
      if (task.producer() == producer) {
        if (task.n() <= last) {
          return false;
        }
        last = task.n();
      }
    }
    return true;
  }

  private static String judge(TaskQueue queue, int added, List<Numbered> all, List<List<Numbered>> byConsumer) {
    boolean isInOrder = byConsumer.stream().allMatch(taken -> isInOrder(taken, 'a') && isInOrder(taken, 'b'));
    boolean isExact = all.size() == added && all.stream().distinct().count() == added && queue.isEmpty();
    return isExact && isInOrder ? "all once, in order" : "added " + added + ", taken " + all;
  }

  @JCStressTest
  @Description("A batch that needs three arrays, while another producer adds tasks and a consumer takes some.")
  @Outcome(id = "all once, in order", expect = ACCEPTABLE, desc = "No task is lost, none is taken twice.")
  @Outcome(expect = FORBIDDEN, desc = "An array was skipped or linked twice, or a cell was taken twice.")
  @State
  public static class BatchAgainstAddAgainstPoll {
    private final TaskQueue queue = new TaskQueue(CELLS);
    private final List<Numbered> taken = new ArrayList<>();

    @Actor
    public void batch() {
      addBatch(queue, 'a', 5);
    }

    @Actor
    public void single() {
      queue.add(new Numbered('b', 0));
      queue.add(new Numbered('b', 1));
    }

    @Actor
    public void consumer() {
      for (int i = 0; i < 4; i++) {
        poll(queue, taken);
      }
    }

    @Arbiter
    public void end(L_Result r) {
      drain(queue, taken);
      r.r1 = judge(queue, 7, taken, List.of(taken));
    }
  }

  @JCStressTest
  @Description("Two consumers take tasks and leave arrays behind, while a producer adds tasks.")
  @Outcome(id = "all once, in order", expect = ACCEPTABLE, desc = "Each task is taken by one consumer.")
  @Outcome(expect = FORBIDDEN, desc = "Both consumers took a cell, or a task was added to an array left behind.")
  @State
  public static class PollAgainstPollAgainstBatch {
    private final TaskQueue queue = new TaskQueue(CELLS);
    private final List<Numbered> first = new ArrayList<>();
    private final List<Numbered> second = new ArrayList<>();

    public PollAgainstPollAgainstBatch() {
      addBatch(queue, 'a', 3);
    }

    @Actor
    public void firstConsumer() {
      for (int i = 0; i < 3; i++) {
        poll(queue, first);
      }
    }

    @Actor
    public void secondConsumer() {
      for (int i = 0; i < 3; i++) {
        poll(queue, second);
      }
    }

    @Actor
    public void producer() {
      addBatch(queue, 'b', 4);
    }

    @Arbiter
    public void end(L_Result r) {
      List<Numbered> rest = new ArrayList<>();
      drain(queue, rest);
      List<Numbered> all = new ArrayList<>(first);
      all.addAll(second);
      all.addAll(rest);
      r.r1 = judge(queue, 7, all, List.of(first, second, rest));
    }
  }
}
