package io.foliot.sim;

import io.foliot.api.Due;
import io.foliot.api.TaskState;
import io.foliot.core.Address;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.Probed;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.format.DocumentFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The planted bugs of workers: in addresses, in the documents of the fleet, in claims, in settles, and in parked tasks.
 * To make an engine misread an address, the store returns the task with another id. To make nodes misread the fleet,
 * the store returns altered documents.
 */
final class BrokenFleetStores {
  private BrokenFleetStores() {}

  /** Returns the store with a bug of workers. Returns the delegate if the bug is elsewhere. */
  static TaskStore of(Bug bug, TaskStore delegate, SimStore.Scene scene) {
    return switch (bug) {
      case SUBSTITUTE_OF_ANOTHER_ZONE -> new Addresses(delegate, scene, Address.Kind.ZONE_SEAT, Address.Kind.SEAT);
      case ONLY_HAS_SUBSTITUTES -> new Addresses(delegate, scene, Address.Kind.ONLY, Address.Kind.SEAT);
      case ZONE_IS_IGNORED -> new Addresses(delegate, scene, Address.Kind.ZONE, Address.Kind.ANY);
      case SEAT_IS_IGNORED -> new Addresses(delegate, scene, Address.Kind.SEAT, Address.Kind.ANY);
      case TENANCY_IS_FORGOTTEN, SEAT_WITHOUT_REST, SEAT_CHANGES_ITS_ZONE, SEATS_WITHOUT_COMPARE,
          DISABLED_COUNT_AS_ENABLED,
          VOUCHERS_NEVER_EXPIRE ->
        new Documents(bug, delegate, scene);
      case LATE_REPORT_IS_TAKEN, FINISHED_RUNS_AGAIN, NOT_BEGUN_COUNTS -> new Reports(bug, delegate, scene);
      case LIVE_LEASE_IS_TAKEN, ATTEMPT_STARTS_AGAIN, LEASES_END_AT_CLAIMS -> new Claims(bug, delegate, scene);
      case PARKED_ADDRESSES_ARE_LOST, PARKED_ARE_LISTED_SELDOM -> new Parked(bug, delegate, scene);
      default -> delegate;
    };
  }

  /** Returns ids with one kind of address as ids with another kind. */
  private static final class Addresses extends BrokenStores.Broken {
    /** The bits of the UUID version in the high half of an id. */
    private static final long VERSION_MASK = 0xF000L;
    /** Version 7, of an id without an address. */
    private static final long PLAIN = 0x7000L;
    /** Version 8, of an id with an address. */
    private static final long ADDRESSED = 0x8000L;
    /** Position, in the high half of an id, of the two bits that contain the code of the address's kind, minus 1. */
    private static final int KIND_SHIFT = 10;
    private static final long KIND_MASK = 3L << KIND_SHIFT;

    private final Address.Kind from;
    private final Address.Kind to;

    Addresses(TaskStore delegate, SimStore.Scene scene, Address.Kind from, Address.Kind to) {
      super(delegate, scene);
      this.from = from;
      this.to = to;
    }

    /** Returns the id that the engine gets for an id in the store. */
    private TaskId shown(TaskId id) {
      return id.address().kind() == from ? with(id, to) : id;
    }

    /** Returns the id in the store for an id that the engine got. */
    private TaskId real(TaskId id) {
      boolean isShown = id.address().kind() == to && BrokenStores.now(delegate.find(new TaskRef.ById(id))).isEmpty();
      return isShown ? with(id, from) : id;
    }

    private static TaskId with(TaskId id, Address.Kind kind) {
      long version = kind == Address.Kind.ANY ? PLAIN : ADDRESSED;
      long high = (id.high() & ~VERSION_MASK) | version;
      return kind == Address.Kind.ANY
          ? new TaskId(high, id.low())
          : new TaskId((high & ~KIND_MASK) | ((long) (kind.code() - 1) << KIND_SHIFT), id.low());
    }

    private DueEntry shown(DueEntry entry) {
      return new DueEntry(entry.wakeAt(), shown(entry.id()), entry.queue());
    }

    private DueEntry real(DueEntry entry) {
      return new DueEntry(entry.wakeAt(), real(entry.id()), entry.queue());
    }

    @Override
    public CompletionStage<List<DueSlice>> due(List<DueScan> scans) {
      List<DueScan> real = scans.stream().map(scan -> {
        TaskId after = scan.after();
        return new DueScan(scan.slot(), scan.fromWakeAt(), after == null ? null : real(after), scan.toWakeAt(),
            scan.limit());
      }).toList();
      return delegate.due(real).thenApply(slices -> slices.stream().map(slice -> new DueSlice(slice.slot(),
          slice.entries().stream().map(this::shown).toList(), slice.more())).toList());
    }

    @Override
    public CompletionStage<List<Boolean>> park(List<DueEntry> entries) {
      return delegate.park(entries.stream().map(this::real).toList());
    }

    @Override
    public CompletionStage<List<DueEntry>> parked(String queue, SlotSet slots, @Nullable DueEntry after, int limit) {
      return delegate.parked(queue, slots, after == null ? null : real(after), limit)
          .thenApply(entries -> entries.stream().map(this::shown).toList());
    }

    @Override
    public CompletionStage<List<Probed>> probe(List<TaskId> ids) {
      return delegate.probe(ids.stream().map(this::real).toList());
    }

    @Override
    public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
      return delegate.claim(claims.stream()
          .map(claim -> new Claim(real(claim.id()), claim.leaseMillis(), claim.notAfterMillis())).toList());
    }
  }

  /** Returns altered documents of the fleet, or writes the seats without a comparison of versions. */
  private static final class Documents extends BrokenStores.Broken {
    /** Time for which each free seat seems to be free. It exceeds the time for which a free seat is kept. */
    private static final long LONG_AGO_MICROS = 700_000_000;
    /** Time for which a node's vouchers for its workers seem to remain valid, at each read. */
    private static final long VALID_MICROS = 9_000_000;
    /** Name of the format of vouchers: the document in which a node lists its live workers. */
    private static final String VOUCHERS = "workers";

    private final Bug bug;

    Documents(Bug bug, TaskStore delegate, SimStore.Scene scene) {
      super(delegate, scene);
      this.bug = bug;
    }

    @Override
    public CompletionStage<Optional<Document>> document(DocumentKind kind, String name) {
      return delegate.document(kind, name)
          .thenApply(found -> kind == DocumentKind.FLEET ? found.map(this::shown) : found);
    }

    @Override
    public CompletionStage<List<Document>> documents(DocumentKind kind) {
      return delegate.documents(kind)
          .thenApply(found -> kind == DocumentKind.FLEET ? found.stream().map(this::shown).toList() : found);
    }

    private Document shown(Document document) {
      byte[] content = document.name().equals(SeatLog.DOCUMENT)
          ? seats(document.content())
          : vouchers(document.content());
      return new Document(document.name(), document.version(), content);
    }

    private byte[] seats(byte[] content) {
      SeatLog.Seats seats = SeatLog.Seats.decode(content);
      return new SeatLog.Seats(seats.zones(), seats.seats().stream().map(seat -> seat(seat, seats.zones().size()))
          .toList()).encode();
    }

    private SeatLog.Seat seat(SeatLog.Seat seat, int zones) {
      long leftMicros = seat.isTaken() ? 0 : scene.nowMicros() - LONG_AGO_MICROS;
      return switch (bug) {
        case TENANCY_IS_FORGOTTEN -> new SeatLog.Seat(seat.worker(), 0, seat.zone(), seat.isDisabled(),
            seat.leftMicros());
        case SEAT_WITHOUT_REST -> new SeatLog.Seat(seat.worker(), seat.tenancy(), seat.zone(), seat.isDisabled(),
            leftMicros);
        case SEAT_CHANGES_ITS_ZONE -> seat.isTaken()
            ? seat
            : new SeatLog.Seat(seat.worker(), seat.tenancy(), (seat.zone() + 1) % zones, seat.isDisabled(), leftMicros);
        case DISABLED_COUNT_AS_ENABLED -> new SeatLog.Seat(seat.worker(), seat.tenancy(), seat.zone(), false,
            seat.leftMicros());
        default -> seat;
      };
    }

    private byte[] vouchers(byte[] content) {
      if (bug != Bug.VOUCHERS_NEVER_EXPIRE) {
        return content;
      }
      byte[] workers = DocumentFormat.decode(VOUCHERS, content, in -> {
        in.u64();
        return in.rest();
      });
      return DocumentFormat.encode(VOUCHERS, out -> out.u64(scene.nowMicros() + VALID_MICROS).bytes(workers));
    }

    @Override
    public CompletionStage<Boolean> writeDocument(DocumentKind kind, String name, long expectedVersion,
        byte @Nullable [] content) {
      boolean isUncompared = bug == Bug.SEATS_WITHOUT_COMPARE && kind == DocumentKind.FLEET
          && name.equals(SeatLog.DOCUMENT);
      long version = isUncompared
          ? BrokenStores.now(delegate.document(kind, name)).map(Document::version).orElse(0L)
          : expectedVersion;
      return delegate.writeDocument(kind, name, version, content);
    }
  }

  /** Settles attempts of workers with any token, or some successes or attempts that did not begin as retries. */
  private static final class Reports extends BrokenStores.Broken {
    /** On average, one in this many successes is settled as a retry. */
    private static final int RARITY = 8;
    private final Bug bug;

    Reports(Bug bug, TaskStore delegate, SimStore.Scene scene) {
      super(delegate, scene);
      this.bug = bug;
    }

    @Override
    public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
      List<SettleResult> results = new ArrayList<>();
      for (AttemptEnd settlement : settlements) {
        results.add(settled(settlement));
      }
      return BrokenStores.completed(results);
    }

    private SettleResult settled(AttemptEnd settlement) {
      TaskRecord task = peek(settlement.id());
      boolean isOfWorker = task != null && task.queue().equals(FleetRuns.QUEUE);
      if (isOfWorker && bug == Bug.LATE_REPORT_IS_TAKEN) {
        return one(ofCurrentClaim(settlement));
      }
      if (isOfWorker && bug == Bug.NOT_BEGUN_COUNTS) {
        return one(settlement.outcome() instanceof Outcome.NotBegun ? retried(settlement) : settlement);
      }
      if (isOfWorker && settlement.outcome() instanceof Outcome.Finished && scene.random.nextInt(RARITY) == 0) {
        SettleResult again = one(retried(settlement));
        return again.kind() == SettleResult.Kind.SETTLED
            ? new SettleResult(again.kind(), TaskState.FINISHED, again.wakeAt())
            : again;
      }
      return one(settlement);
    }

    private static AttemptEnd retried(AttemptEnd settlement) {
      return new AttemptEnd(settlement.id(), settlement.generation(), settlement.token(), new Outcome.Retry(Due.NOW),
          settlement.begunAt(), settlement.detail(), settlement.note());
    }

    private SettleResult one(AttemptEnd settlement) {
      return BrokenStores.now(delegate.settle(List.of(settlement))).getFirst();
    }
  }

  /** Claims tasks of workers despite a lease, or always as their first attempt, or ends no lease. */
  private static final class Claims extends BrokenStores.Broken {
    private final Bug bug;

    Claims(Bug bug, TaskStore delegate, SimStore.Scene scene) {
      super(delegate, scene);
      this.bug = bug;
    }

    @Override
    public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
      List<ClaimResult> results = new ArrayList<>();
      for (Claim claim : claims) {
        TaskRecord task = peek(claim.id());
        results.add(task != null && task.queue().equals(FleetRuns.QUEUE) ? wrong(claim, task) : claimOne(claim));
      }
      return BrokenStores.completed(new ClaimBatch(scene.nowMillis(), results));
    }

    private ClaimResult wrong(Claim claim, TaskRecord task) {
      if (bug == Bug.ATTEMPT_STARTS_AGAIN) {
        return claimOne(claim) instanceof ClaimResult.Won won
            ? new ClaimResult.Won(won.task().edit().attempt(1).done())
            : new ClaimResult.Gone(null, null);
      }
      if (bug == Bug.LEASES_END_AT_CLAIMS) {
        return claimOne(claim.beginsNothing(scene.nowMillis()) ? Claim.move(claim.id()) : claim);
      }
      if (claim.beginsNothing(scene.nowMillis()) || task.state() != TaskState.RUNNING) {
        return claimOne(claim);
      }
      long leftMicros = Math.max(0, task.leaseEnd() * 1_000 - scene.nowMicros());
      return scene.skewed(leftMicros, () -> claimOne(claim));
    }
  }

  /** Never returns parked tasks with an address, or rarely lists the queues of parked tasks. */
  private static final class Parked extends BrokenStores.Broken {
    private static final long SECOND_MILLIS = 1_000;
    /** Length of a period, in seconds; parked queues are listed only in the first second of a period. */
    private static final int PERIOD_SECONDS = 4;

    private final Bug bug;

    Parked(Bug bug, TaskStore delegate, SimStore.Scene scene) {
      super(delegate, scene);
      this.bug = bug;
    }

    @Override
    public CompletionStage<List<DueEntry>> parked(String queue, SlotSet slots, @Nullable DueEntry after, int limit) {
      return delegate.parked(queue, slots, after, limit).thenApply(entries -> bug == Bug.PARKED_ADDRESSES_ARE_LOST
          ? entries.stream().filter(entry -> entry.id().address().isAnywhere()).toList()
          : entries);
    }

    @Override
    public CompletionStage<Set<String>> parkedQueues(SlotSet slots) {
      return bug == Bug.PARKED_ARE_LISTED_SELDOM && scene.nowMillis() / SECOND_MILLIS % PERIOD_SECONDS != 0
          ? BrokenStores.completed(Set.of())
          : delegate.parkedQueues(slots);
    }
  }
}
