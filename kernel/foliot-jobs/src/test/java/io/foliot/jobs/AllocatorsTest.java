package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Job;
import io.foliot.core.coordination.Fleet.Seat;
import io.foliot.jobs.Allocators.UnallocatedException;
import io.foliot.jobs.ShardAllocator.Worker;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests the arguments of an allocator, and each kind of result that is refused. */
final class AllocatorsTest {
  private static final Job JOB = Job.named("report").queue("q").every(Duration.ofMinutes(1)).shards(3, "w2", "w0")
      .allocator("own").build();
  private static final List<Seat> SEATS = new Workers().add("w0", "a").add("w1", "a").add("w2", "b").fleet()
      .working("q");
  private static final Worker FIRST = new Worker("w0", "a");
  private static final Worker LAST = new Worker("w2", "b");

  private static List<Integer> seats(ShardAllocator allocator) {
    return new Allocators(Map.of("own", allocator)).seats(JOB, SEATS);
  }

  @Test
  void anAllocatorGetsTheJobAndTheWorkersInOrder() {
    List<Object> given = new ArrayList<>();
    assertThat(seats((job, workers) -> {
      given.add(job);
      given.addAll(workers);
      return List.of(LAST, FIRST, LAST);
    })).containsExactly(2, 0, 2);
    assertThat(given).containsExactly(JOB, FIRST, new Worker("w1", "a"), LAST);
    assertThat(seats((job, workers) -> Stream.of("w2", "w0", "w1")
        .map(name -> workers.stream().filter(worker -> worker.name().equals(name)).findFirst().orElseThrow()).toList()))
        .containsExactly(2, 0, 1);
  }

  /** An allocator with an invalid result, and the reason in the message of the refusal. */
  private record Wrong(ShardAllocator allocator, String reason) {}

  @SuppressWarnings("NullAway") // An application without null checks may return null.
  private static Stream<Wrong> invalidResults() {
    return Stream.of(new Wrong((job, workers) -> null, "returned null"),
        new Wrong((job, workers) -> List.of(), "returned 0 workers for 3 shards"),
        new Wrong((job, workers) -> List.of(FIRST, LAST), "returned 2 workers for 3 shards"),
        new Wrong((job, workers) -> List.of(FIRST, LAST, LAST, LAST), "returned 4 workers for 3 shards"),
        new Wrong((job, workers) -> Arrays.asList(FIRST, null, LAST), "gave shard 1 to null"),
        new Wrong((job, workers) -> List.of(FIRST, FIRST, new Worker("w9", "a")),
            "gave shard 2 to a worker that was not offered, Worker[name=w9, zone=a]"),
        new Wrong((job, workers) -> List.of(new Worker("w0", "b"), FIRST, FIRST),
            "gave shard 0 to a worker that was not offered, Worker[name=w0, zone=b]"),
        new Wrong((job, workers) -> {
          throw new IllegalStateException("boom");
        }, "failed: java.lang.IllegalStateException: boom"), new Wrong((job, workers) -> {
          throw new NoClassDefFoundError("Region");
        }, "failed: java.lang.NoClassDefFoundError: Region"), new Wrong(AllocatorsTest::endless,
            "failed: java.lang.StackOverflowError"),
        new Wrong((job, workers) -> new AbstractList<>() {
          @Override
          public Worker get(int index) {
            throw new IllegalArgumentException("lazy");
          }

          @Override
          public int size() {
            return job.shards();
          }
        }, "failed: java.lang.IllegalArgumentException: lazy"), new Wrong((job, workers) -> {
          workers.clear();
          return workers;
        }, "failed: java.lang.UnsupportedOperationException"));
  }

  private static List<Worker> endless(Job job, List<Worker> workers) {
    return new ArrayList<>(workers.isEmpty() ? workers : endless(job, workers));
  }

  @Test
  void anInvalidResultIsRefusedWithAReason() {
    invalidResults().forEach(wrong -> assertThatThrownBy(() -> seats(wrong.allocator()))
        .isInstanceOf(UnallocatedException.class)
        .hasMessage("waits for its allocator, which " + wrong.reason() + ": allocator=own"));
  }

  @Test
  void aWorkerHasItsNameWithAndWithoutTheSuffix() {
    assertThat(new Worker("eu", "").isNamed("eu")).isTrue();
    assertThat(new Worker("eu-01fe89ab", "").isNamed("eu")).isTrue();
    assertThat(new Worker("eu-01fe89ab", "").isNamed("eu-01fe89ab")).isTrue();
    for (String other : List.of("e", "eu-0", "eu-", "eu-01fe89a", "", "EU")) {
      assertThat(new Worker("eu-01fe89ab", "").isNamed(other)).as(other).isFalse();
    }
    assertThat(new Worker("eu-west1234", "").isNamed("eu")).as("the suffix is not hexadecimal").isFalse();
    assertThat(new Worker("eu-01fe89ab0", "").isNamed("eu")).isFalse();
    assertThat(new Worker("eu_01fe89ab", "").isNamed("eu")).isFalse();
    assertThat(new Worker("null", "").isNamed(null)).isFalse();
  }

  @Test
  void theTextOfAFailureIsCut() {
    assertThatThrownBy(() -> seats((job, workers) -> {
      throw new IllegalStateException("x".repeat(100_000));
    })).hasMessageContaining("xxx").satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(400));
    assertThatThrownBy(() -> seats((job, workers) -> Collections.nCopies(3, new Worker("y".repeat(100_000), ""))))
        .hasMessageContaining("yyy").satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(400));
  }

  @Test
  void aMissingAllocatorIsNamed() {
    assertThatThrownBy(() -> Allocators.NONE.seats(JOB, SEATS)).isInstanceOf(UnallocatedException.class)
        .hasMessage("waits for its allocator, which this node does not have; each node of the store must register it:"
            + " allocator=own");
  }
}
