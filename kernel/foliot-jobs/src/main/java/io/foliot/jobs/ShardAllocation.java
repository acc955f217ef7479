package io.foliot.jobs;

import io.foliot.api.Allocation;
import io.foliot.core.coordination.Fleet.Seat;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Divides shards among workers: a pure function of the rule, the job's name, the number of shards and the workers. The
 * result does not depend on the order of the given workers.
 *
 * <p>{@link Allocation#AVERAGE} and {@link Allocation#ODD_EVEN} are the rules of ElasticJob, with the same treatment of
 * the remainder and the same hash. {@link Allocation#HASH} is rendezvous hashing (Thaler and Ravishankar 1996) of a
 * shard over the names of the workers. A ring of virtual nodes was rejected, because it needs a table and divides less
 * evenly.
 */
final class ShardAllocation {
  private ShardAllocation() {}

  /**
   * Returns the number of a seat for each shard, in the order of the shards.
   *
   * @param allocation any rule but {@link Allocation#FREE} and {@link Allocation#OWN}
   * @param job the job's name
   * @param shards how many shards there are
   * @param workers the seats of the workers, at least one
   */
  static List<Integer> seats(Allocation allocation, String job, int shards, List<Seat> workers) {
    List<Seat> sorted = new ArrayList<>(workers);
    sorted.sort(Comparator.comparingInt(Seat::place));
    List<Integer> seats = new ArrayList<>(shards);
    for (int shard = 0; shard < shards; shard++) {
      Seat seat = switch (allocation) {
        case FREE, OWN -> throw new IllegalArgumentException(
            "this rule divides no shards by itself: allocation=" + allocation + ", job=" + job);
        case AVERAGE -> sorted.get(average(shard, shards, sorted.size()));
        case ODD_EVEN -> {
          int place = average(shard, shards, sorted.size());
          yield sorted.get(job.hashCode() % 2 == 0 ? sorted.size() - 1 - place : place);
        }
        case HASH -> heaviest(shard, sorted);
        case ROUND_ROBIN -> sorted.get(Math.floorMod((long) job.hashCode() + shard, sorted.size()));
      };
      seats.add(seat.number());
    }
    return seats;
  }

  /** Returns the index of a shard's worker. For example, ten shards go to three workers as 0-2 and 9; 3-5; 6-8. */
  private static int average(int shard, int shards, int workers) {
    int block = shards / workers;
    return shard < block * workers ? shard / block : shard - block * workers;
  }

  /** Returns the seat of the worker with the largest weight for a shard. */
  private static Seat heaviest(int shard, List<Seat> workers) {
    Seat heaviest = workers.getFirst();
    long most = heaviest.weight(shard);
    for (Seat seat : workers) {
      long weight = seat.weight(shard);
      if (Long.compareUnsigned(weight, most) > 0) {
        heaviest = seat;
        most = weight;
      }
    }
    return heaviest;
  }
}
