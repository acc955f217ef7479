package io.foliot.bench.fleet;

import io.foliot.core.Address;
import io.foliot.core.coordination.Fleet;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures which worker serves an address. A loop asks this for each addressed entry that it handles. Every tenth
 * worker is gone, so its seat has a substitute.
 *
 * <pre>{@code
 * mvn -q -pl :foliot-bench -am -Pjmh process-test-classes -Dbench.args="FleetBenchmark"
 * }</pre>
 *
 * <p>{@code served} is one question about an entry. {@code changed} is the first turn after a change of the fleet: it
 * builds the index, and asks once for each seat.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class FleetBenchmark {
  private static final String QUEUE = "billing";
  private static final int GONE = 10;
  private static final int ZONES = 4;

  @Param({"100", "1000", "2000"})
  int workers;

  private final List<Fleet.Seat> seats = new ArrayList<>();
  private final List<String> zones = new ArrayList<>();
  private final List<Address> addresses = new ArrayList<>();
  private Fleet fleet = Fleet.EMPTY;
  private int next;

  /** Creates the workers, and the addresses of all seats. */
  @Setup
  public void createFleet() {
    for (int i = 0; i < ZONES; i++) {
      zones.add("zone-" + i);
    }
    for (int i = 0; i < workers; i++) {
      boolean isLive = i % GONE != 0;
      seats.add(new Fleet.Seat(i, "worker-of-host-" + i, zones.get(i % ZONES), isLive ? Set.of(QUEUE) : Set.of(),
          isLive ? "node" : "", isLive, true));
      addresses.add(new Address(i % 2 == 0 ? Address.Kind.SEAT : Address.Kind.ZONE_SEAT, i));
    }
    fleet = new Fleet(seats, zones);
  }

  /** Asks for the worker of the next seat. */
  @Benchmark
  @OutputTimeUnit(TimeUnit.NANOSECONDS)
  public Fleet.@Nullable Seat served() {
    next = next + 1 == addresses.size() ? 0 : next + 1;
    return fleet.server(QUEUE, addresses.get(next));
  }

  /** Builds a fleet, and asks for the worker of each seat. */
  @Benchmark
  @OutputTimeUnit(TimeUnit.MICROSECONDS)
  public int changed() {
    Fleet changed = new Fleet(seats, zones);
    int served = 0;
    for (Address address : addresses) {
      served += changed.server(QUEUE, address) == null ? 0 : 1;
    }
    return served;
  }
}
