package io.foliot.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.LongFunction;

/** Runs many seeds of a simulation on all processors. */
final class Seeds {
  /** The first seed. */
  static final int FROM = Integer.getInteger("from", 0);

  /** Number of seeds between two reports of the progress. */
  private static final int PRINT_EVERY = 5_000;

  private Seeds() {}

  /** Runs a simulation with a number of consecutive seeds. Returns the outcomes in the order of the seeds. */
  static <T> List<T> run(int from, int seeds, LongFunction<T> simulation) {
    List<T> outcomes = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors())) {
      List<Future<T>> running = new ArrayList<>();
      for (int seed = from; seed < from + seeds; seed++) {
        long mine = seed;
        running.add(threads.submit(() -> simulation.apply(mine)));
      }
      for (Future<T> outcome : running) {
        outcomes.add(outcome.get());
        if (outcomes.size() % PRINT_EVERY == 0) {
          System.out.println(outcomes.size() + " of " + seeds + " seeds");
        }
      }
    } catch (InterruptedException | ExecutionException e) {
      throw new AssertionError("a simulation failed or was interrupted", e);
    }
    return outcomes;
  }
}
