package io.foliot.testkit;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.foliot.api.Body;
import io.foliot.api.Cancellation;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.Probed;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Stores with one fault each, and the tests of the kit that must find the fault. */
final class BrokenStoresTest {
  /** Pause between the read and the write of a store that does not do both in one step. */
  private static final long ROUND_TRIP_NANOS = 100_000;
  private static final int MODEL_SEEDS = 30;
  private static final int MODEL_STEPS = 300;

  /** The store that was created last, which may be wrapped. */
  private static @Nullable MemoryStore latest;

  /** A test of the kit, called on an instance of the kit. */
  private interface Property {
    void holdsFor(TaskStoreContract kit);
  }

  /**
   * A store with one fault.
   *
   * @param how the fault, in words that continue the name of the test factory
   * @param open opens the store on a clock
   * @param seenByModel whether the random operations of {@link ModelRun} must find the fault, too
   * @param properties the tests of the kit that must each fail on the store
   */
  private record Broken(String how, Function<TimeSource, TaskStore> open, boolean seenByModel,
      List<Property> properties) {
    Broken(String how, Function<TimeSource, TaskStore> open, boolean seenByModel, Property... properties) {
      this(how, open, seenByModel, List.of(properties));
    }
  }

  /** The kit, as the author of a store would run it. If {@code forgets} is true, a reopened store has lost its data. */
  private static final class Kit extends TaskStoreContract {
    private final Function<TimeSource, TaskStore> open;
    private final boolean forgets;

    Kit(Function<TimeSource, TaskStore> open, boolean forgets) {
      this.open = open;
      this.forgets = forgets;
    }

    @Override
    protected TaskStore open(TimeSource storeClock) {
      return open.apply(storeClock);
    }

    @Override
    protected TaskStore reopen(TaskStore old, TimeSource storeClock) {
      return forgets ? open.apply(storeClock) : old;
    }

    @Override
    protected void setFull(boolean isFull) {
      requireNonNull(latest).setFull(isFull);
    }
  }

  private static MemoryStore sound(TimeSource clock) {
    MemoryStore store = new MemoryStore(16, clock,
        () -> new Token(ThreadLocalRandom.current().nextLong(), ThreadLocalRandom.current().nextLong()));
    latest = store;
    return store;
  }

  private static @Nullable Throwable run(Function<TimeSource, TaskStore> open, boolean forgets, Property property) {
    Kit kit = new Kit(open, forgets);
    kit.openStore();
    try {
      return catchThrowable(() -> property.holdsFor(kit));
    } finally {
      kit.closeStore();
    }
  }

  @TestFactory
  Stream<DynamicTest> theKitFailsOnAStoreThat() {
    return Stream.of(claims(), settles(), plans(), resets(), cancels(), indexes(), parks(), records(), moves(),
        full())
        .flatMap(List::stream)
        .map(broken -> DynamicTest.dynamicTest(broken.how(), () -> {
          for (int i = 0; i < broken.properties().size(); i++) {
            Property property = broken.properties().get(i);
            assertThat(run(broken.open(), true, property)).as("property %s on the broken store", i)
                .isNotNull();
            assertThat(run(clock -> new WrappedStore(sound(clock)), false, property))
                .as("property %s on a sound store", i).isNull();
          }
        }));
  }

  @TestFactory
  Stream<DynamicTest> theModelFailsOnAStoreThat() {
    return Stream.of(claims(), settles(), plans(), resets(), cancels(), indexes(), parks(), records(), moves())
        .flatMap(List::stream)
        .filter(Broken::seenByModel)
        .map(broken -> DynamicTest.dynamicTest(broken.how(), () -> assertThat(modelFails(broken)).isTrue()));
  }

  private static boolean modelFails(Broken broken) {
    for (long seed = 0; seed < MODEL_SEEDS; seed++) {
      SettableClock clock = new SettableClock();
      ModelRun run = new ModelRun(seed, clock, broken.open().apply(clock), sound(clock));
      if (catchThrowable(() -> run.run(MODEL_STEPS)) instanceof AssertionError) {
        return true;
      }
    }
    return false;
  }

  @TestFactory
  Stream<DynamicTest> aStoreThatOnlyForwardsCallsIsSound() {
    return Stream.of(DynamicTest.dynamicTest("by the model", () -> assertThatCode(() -> {
      SettableClock clock = new SettableClock();
      new ModelRun(0, clock, new WrappedStore(sound(clock)), sound(clock)).run(MODEL_STEPS);
    }).doesNotThrowAnyException()));
  }

  private static List<Broken> claims() {
    return List.of(new Broken("hands a running task out again", clock -> new WrappedStore(sound(clock)) {
      @Override
      public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
        ClaimBatch batch = StoreFixture.get(delegate.claim(claims));
        return changed(claims, CompletableFuture.completedFuture(batch.results()), (claim, result) -> {
          TaskRecord task = read(claim.id());
          return result instanceof ClaimResult.Later && task != null && task.state() == TaskState.RUNNING
              ? new ClaimResult.Won(task)
              : result;
        }).thenApply(results -> new ClaimBatch(batch.nowMillis(), results));
      }
    }, true, TaskStoreContract::aRunningTaskIsNotClaimedAgain, TaskStoreContract::oneOfTwoClaimsOfATaskInABatchWins,
        TaskStoreContract::amongManyClaimersEachTaskIsWonByExactlyOne,
        TaskStoreContract::resultsAgreeWithEarlierResultsUnderManyThreads),
        new Broken("treats a move as a claim", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
            return delegate.claim(claims.stream().map(claim -> new Claim(claim.id(), Math.max(1, claim.leaseMillis())))
                .toList());
          }
        }, true, TaskStoreContract::aMoveCorrectsEarlyEntriesAndLeavesDueTasks),
        new Broken("moves an entry that is only probed", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<Probed>> probe(List<TaskId> ids) {
            StoreFixture.get(delegate.claim(ids.stream().map(Claim::move).toList()));
            return delegate.probe(ids);
          }
        }, true, TaskStoreContract::aProbeReturnsDueTimesAndChangesNothing),
        new Broken("returns the time of the index entry from a probe", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<Probed>> probe(List<TaskId> ids) {
            return changed(ids, delegate.probe(ids), (id, probed) -> new Probed(probed.wakeAt(), probed.wakeAt()));
          }
        }, true, TaskStoreContract::aProbeReturnsDueTimesAndChangesNothing),
        new Broken("accepts a claim after its latest time", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
            return delegate.claim(claims.stream().map(claim -> new Claim(claim.id(), claim.leaseMillis())).toList());
          }
        }, true, TaskStoreContract::aClaimAfterItsLatestTimeIsAMove),
        new Broken("leaves ended leases to claims that begin an attempt", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
            return delegate.claim(claims.stream()
                .map(claim -> claim.notAfterMillis() == Long.MIN_VALUE ? Claim.move(claim.id()) : claim).toList());
          }
        }, true, TaskStoreContract::aClaimThatBeginsNothingEndsALastAttempt,
            TaskStoreContract::aClaimThatBeginsNothingLetsASuccessorOrCancelWin,
            TaskStoreContract::aTaskThatTheEndOfItsLeaseFinishesIsNotParked),
        new Broken("ignores moves", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
            ClaimBatch batch = StoreFixture
                .get(delegate.claim(claims.stream().filter(claim -> claim.leaseMillis() > 0).toList()));
            List<ClaimResult> results = new ArrayList<>();
            int next = 0;
            for (Claim claim : claims) {
              results.add(claim.leaseMillis() == 0 ? ClaimResult.Ready.READY : batch.results().get(next++));
            }
            return CompletableFuture.completedFuture(new ClaimBatch(batch.nowMillis(), results));
          }
        }, true, TaskStoreContract::aMoveCorrectsEarlyEntriesAndLeavesDueTasks),
        new Broken("reads before it claims, and reports a lost race as won", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
            List<Boolean> free = claims.stream().map(claim -> {
              TaskRecord task = read(claim.id());
              return task != null && task.state() == TaskState.DELAYED && task.dueAt() <= clock.wallMillis();
            }).toList();
            LockSupport.parkNanos(ROUND_TRIP_NANOS);
            return delegate.claim(claims).thenApply(batch -> {
              List<ClaimResult> results = new ArrayList<>();
              for (int i = 0; i < claims.size(); i++) {
                TaskRecord task = read(claims.get(i).id());
                ClaimResult result = batch.results().get(i);
                results.add(result instanceof ClaimResult.Later && free.get(i) && task != null && task.token() != null
                    ? new ClaimResult.Won(task)
                    : result);
              }
              return new ClaimBatch(batch.nowMillis(), results);
            });
          }
        }, false, TaskStoreContract::amongManyClaimersEachTaskIsWonByExactlyOne),
        new Broken("claims a few milliseconds too early", clock -> {
          long[] aheadMicros = {0};
          TimeSource hasty = new TimeSource() {
            @Override
            public long wallMicros() {
              return clock.wallMicros() + aheadMicros[0];
            }

            @Override
            public long monotonicNanos() {
              return clock.monotonicNanos();
            }
          };
          return new WrappedStore(sound(hasty)) {
            @Override
            public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
              aheadMicros[0] = 3_000;
              try {
                return delegate.claim(claims);
              } finally {
                aheadMicros[0] = 0;
              }
            }
          };
        }, true, TaskStoreContract::aTaskIsDueInItsMillisecondAndNotInTheOneBefore),
        new Broken("gives all claims of a batch the lease of the first", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
            return delegate.claim(
                claims.stream().map(claim -> new Claim(claim.id(), claims.getFirst().leaseMillis())).toList());
          }
        }, true, TaskStoreContract::theClaimsOfABatchHaveSeparateLeases),
        new Broken("uses a token again", clock -> {
          return new MemoryStore(16, clock, () -> new Token(7, ThreadLocalRandom.current().nextInt(2)));
        }, false, TaskStoreContract::aTokenIsNeverUsedAgain,
            TaskStoreContract::resultsAgreeWithEarlierResultsUnderManyThreads),
        new Broken("extends after a cancel", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<ExtendResult>> extend(List<Extension> extensions) {
            return changed(extensions, delegate.extend(extensions),
                (extension, result) -> result.kind() == ExtendResult.Kind.CANCELLED
                    ? new ExtendResult(ExtendResult.Kind.EXTENDED, clock.wallMillis() + extension.leaseMillis())
                    : result);
          }
        }, true, TaskStoreContract::anExtensionIsRefusedAfterACancel),
        new Broken("loses the note of a settlement", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
            return delegate.settle(settlements.stream().map(settlement -> new AttemptEnd(settlement.id(),
                settlement.generation(), settlement.token(), settlement.outcome(), settlement.begunAt(),
                settlement.detail())).toList());
          }
        }, true, TaskStoreContract::theNextAttemptGetsTheNoteOfAFailure, TaskStoreContract::anEndedTaskKeepsItsNote),
        new Broken("passes a note to another firing", clock -> new WrappedStore(sound(clock)) {
          private final Map<TaskId, TaskNote> notes = new ConcurrentHashMap<>();

          @Override
          public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
            settlements.forEach(settlement -> notes.put(settlement.id(), settlement.note()));
            return delegate.settle(settlements);
          }

          @Override
          public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
            return delegate.claim(claims).thenApply(batch -> new ClaimBatch(batch.nowMillis(), batch.results().stream()
                .map(result -> result instanceof ClaimResult.Won(TaskRecord task) && notes.containsKey(task.id())
                    ? new ClaimResult.Won(task.edit().noted(
                        new TaskRecord.Noted(task.generation(), notes.get(task.id()))).done())
                    : result)
                .toList()));
          }
        }, false, TaskStoreContract::anotherFiringBeginsWithoutANote),
        new Broken("ignores the terms of queues", clock -> new WrappedStore(sound(clock)) {
          @Override
          public void configure(String queue, QueueTerms terms) {
            // The fault: the terms are lost.
          }
        }, true, TaskStoreContract::aLostLastAttemptMakesADeadLetter,
            TaskStoreContract::resetsCannotPushATaskBeyondMaxWait,
            TaskStoreContract::extensionsAreBoundedByTheQueuesLongestRunTime,
            TaskStoreContract::finalTasksVanishAfterTheirRetentionAndNotBefore));
  }

  /** Returns a store that replaces each settlement's outcome by the result of {@code other}, and drops the note. */
  private static TaskStore replanning(TaskStore store, Function<AttemptEnd, Outcome> other) {
    return new WrappedStore(store) {
      @Override
      public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
        return delegate.settle(settlements.stream().map(settlement -> new AttemptEnd(settlement.id(),
            settlement.generation(), settlement.token(), other.apply(settlement), settlement.begunAt(),
            settlement.detail())).toList());
      }
    };
  }

  private static List<Broken> plans() {
    return List.of(new Broken("inserts children after their parent", clock -> new WrappedStore(sound(clock)) {
      @Override
      public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
        CompletionStage<List<SettleResult>> settled = replanning(delegate,
            settlement -> settlement.outcome() instanceof Outcome.Rearm rearm
                ? new Outcome.Rearm(rearm.due(), rearm.body(), List.of())
                : settlement.outcome())
            .settle(settlements);
        LockSupport.parkNanos(ROUND_TRIP_NANOS);
        return changed(settlements, settled, (settlement, result) -> {
          if (result.kind() == SettleResult.Kind.SETTLED && settlement.outcome() instanceof Outcome.Rearm rearm) {
            insert(delegate, rearm.children());
          }
          return result;
        });
      }
    }, false, TaskStoreContract::aPlanIsSeenAsAWholeOrNotAtAll),
        new Broken("inserts children before it checks the token", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
            for (AttemptEnd settlement : settlements) {
              if (settlement.outcome() instanceof Outcome.Rearm rearm) {
                insert(delegate, rearm.children());
              }
            }
            return delegate.settle(settlements);
          }
        }, true, TaskStoreContract::onlyTheTokenOfTheLatestClaimReArms,
            TaskStoreContract::aReArmOfAnAbsentTaskInsertsNothing, TaskStoreContract::aReArmAfterACancelInsertsNoChild),
        new Broken("keeps the old payload", clock -> replanning(sound(clock),
            settlement -> settlement.outcome() instanceof Outcome.Rearm rearm
                ? new Outcome.Rearm(rearm.due(), null, rearm.children())
                : settlement.outcome()),
            true, TaskStoreContract::aReArmGivesItsTaskAPayloadAndInsertsChildren),
        new Broken("drops the plan if there is a successor", clock -> {
          TaskStore store = sound(clock);
          return replanning(store, settlement -> {
            TaskRecord task = StoreFixture.get(store.find(new TaskRef.ById(settlement.id()))).orElse(null);
            return settlement.outcome() instanceof Outcome.Rearm(Due due, Body body, List<Outcome.Child> children)
                && task != null && task.successor() != null ? new Outcome.Rearm(due) : settlement.outcome();
          });
        }, true, TaskStoreContract::aTouchDueBeforeAPlanGetsThePayloadOfThePlan,
            TaskStoreContract::aPlanDueBeforeATouchGetsANewerGeneration,
            TaskStoreContract::aSubmitDuringAPlanReplacesThePayload),
        new Broken("parks no child", clock -> replanning(sound(clock),
            settlement -> settlement.outcome() instanceof Outcome.Rearm rearm
                ? new Outcome.Rearm(rearm.due(), rearm.body(), rearm.children().stream()
                    .map(child -> new Outcome.Child(child.id(), child.queue(), child.due(), child.body(),
                        child.maxAttempts(), false))
                    .toList())
                : settlement.outcome()),
            true, TaskStoreContract::childrenToParkAreParkedOnlyIfTheyAreDue),
        new Broken("ignores expected generations", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
            return delegate.submit(drafts.stream().map(draft -> draft.expecting(Draft.ANY)).toList());
          }
        }, true, TaskStoreContract::aDraftWhoseExpectationFailsChangesNothing,
            TaskStoreContract::aDraftThatExpectsNoLiveTaskCreatesOne,
            TaskStoreContract::aDraftThatExpectsAGenerationOfARunningTaskIsRefused),
        new Broken("compares a generation before it writes", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
            List<Draft> met = new ArrayList<>();
            for (Draft draft : drafts) {
              String key = draft.key();
              TaskRecord task = key == null ? null : read(new TaskRef.ByKey(draft.queue(), key));
              boolean holds = task != null && task.generation() == draft.expectedGeneration();
              met.add(holds ? draft.expecting(Draft.ANY) : draft);
            }
            LockSupport.parkNanos(ROUND_TRIP_NANOS);
            return delegate.submit(met);
          }
        }, false, TaskStoreContract::oneOfSeveralDraftsWithOneExpectationWins),
        new Broken("returns only the tasks that exist", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<Optional<TaskRecord>>> find(List<TaskId> ids) {
            return delegate.find(ids).thenApply(found -> found.stream().filter(Optional::isPresent).toList());
          }
        }, false, TaskStoreContract::manyTasksAreReturnedInTheOrderOfTheCall));
  }

  private static void insert(TaskStore store, List<Outcome.Child> children) {
    for (Outcome.Child child : children) {
      if (StoreFixture.get(store.find(new TaskRef.ById(child.id()))).isEmpty()) {
        StoreFixture.get(store.submit(List.of(new Draft(child.id(), child.queue(), null, child.due(), child.body(),
            child.maxAttempts(), OnConflict.RESET, null))));
      }
    }
  }

  private static List<Broken> settles() {
    return List.of(new Broken("counts attempts that did not begin", clock -> replanning(sound(clock),
        settlement -> settlement.outcome() instanceof Outcome.NotBegun
            ? new Outcome.Retry(Due.NOW)
            : settlement.outcome()),
        true, TaskStoreContract::anAttemptThatDidNotBeginDoesNotCount,
        TaskStoreContract::aTaskWhoseAttemptsDoNotBeginIsPaused),
        new Broken("accepts any token", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
            return delegate.settle(settlements.stream().map(settlement -> {
              TaskRecord task = read(settlement.id());
              Token token = task == null ? null : task.token();
              return token == null || task == null
                  ? settlement
                  : new AttemptEnd(settlement.id(), task.generation(), token, settlement.outcome(),
                      settlement.begunAt(),
                      settlement.detail());
            }).toList());
          }
        }, true, TaskStoreContract::onlyTheTokenOfTheClaimSettles,
            TaskStoreContract::aStaleTokenSettlesNothingAfterAnotherClaim,
            TaskStoreContract::aClaimAfterTheLeaseInvalidatesTheFirstClaim),
        new Broken("accepts any generation", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
            return delegate.settle(settlements.stream().map(settlement -> {
              TaskRecord task = read(settlement.id());
              return task == null
                  ? settlement
                  : new AttemptEnd(settlement.id(), task.generation(), settlement.token(), settlement.outcome(),
                      settlement.begunAt(), settlement.detail());
            }).toList());
          }
        }, true, TaskStoreContract::onlyTheGenerationOfTheClaimIsSettled),
        new Broken("reports a repeated settle as settled", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
            return changed(settlements, delegate.settle(settlements),
                (settlement, result) -> result.kind() == SettleResult.Kind.REPEATED
                    ? new SettleResult(SettleResult.Kind.SETTLED, result.state(), result.wakeAt())
                    : result);
          }
        }, true, TaskStoreContract::theSameOutcomeMayBeRepeatedAndAnotherIsRefused,
            TaskStoreContract::amongManySettlersEachTokenIsAcceptedOnce,
            TaskStoreContract::resultsAgreeWithEarlierResultsUnderManyThreads),
        new Broken("refuses a report that comes after the lease", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
            return delegate.settle(settlements.stream().map(settlement -> {
              TaskRecord task = read(settlement.id());
              return task == null || task.leaseEnd() > clock.wallMillis()
                  ? settlement
                  : new AttemptEnd(settlement.id(), settlement.generation(), new Token(1, 2), settlement.outcome(),
                      settlement.begunAt(), settlement.detail());
            }).toList());
          }
        }, true, TaskStoreContract::aSettleAfterTheLeaseIsAcceptedBeforeTheNextClaim),
        new Broken("reports a redrive as done despite a live task", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<RedriveResult>> redrive(List<Redrive> redrives) {
            return changed(redrives, delegate.redrive(redrives),
                (redrive, result) -> result.kind() == RedriveResult.Kind.CONFLICT
                    ? new RedriveResult(RedriveResult.Kind.REDRIVEN, redrive.id(), 1, clock.wallMillis())
                    : result);
          }
        }, false, TaskStoreContract::aRedriveLeavesTheLiveTaskOfTheKeyAlone),
        new Broken("redrives a task of another queue", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<RedriveResult>> redrive(List<Redrive> redrives) {
            return delegate.redrive(redrives.stream().map(redrive -> {
              TaskRecord task = read(redrive.id());
              return task == null ? redrive : new Redrive(task.queue(), redrive.id());
            }).toList());
          }
        }, true, TaskStoreContract::aTaskOfAnotherQueueIsNotRedriven));
  }

  private static List<Broken> resets() {
    return List.of(new Broken("sets no successor", clock -> new WrappedStore(sound(clock)) {
      @Override
      public CompletionStage<List<TouchResult>> touch(List<Touch> touches) {
        return delegate.touch(touches.stream().map(touch -> {
          TaskRecord task = read(touch.ref());
          return task != null && task.state() == TaskState.RUNNING
              ? new Touch(new TaskRef.ById(new TaskId(1, 2)), Due.at(0))
              : touch;
        }).toList()).thenCompose(results -> changed(touches, CompletableFuture.completedFuture(results),
            (touch, result) -> {
              TaskRecord task = read(touch.ref());
              return task != null && task.state() == TaskState.RUNNING
                  ? new TouchResult(TouchResult.Kind.RESET_PENDING, task.id(), task.generation() + 1,
                      touch.due().atMillis(0),
                      false)
                  : result;
            }));
      }
    }, true, TaskStoreContract::aTouchOfARunningTaskSetsItsSuccessorWithTheSameBody,
        TaskStoreContract::aSuccessorTakesOverWhenTheAttemptsAreUsedUp,
        TaskStoreContract::aSuccessorThatIsNotDueTakesOverAndWaits),
        new Broken("reports a reset of a running task as not pending", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
            return changed(drafts, delegate.submit(drafts),
                (draft, result) -> result.kind() == SubmitResult.Kind.RESET_PENDING
                    ? new SubmitResult(SubmitResult.Kind.RESET, result.id(), result.generation(), result.dueAt(),
                        result.state(), result.indexed())
                    : result);
          }
        }, true, TaskStoreContract::aResetOfARunningTaskSetsItsSuccessor,
            TaskStoreContract::aResetOfATaskWithAnOutstandingAttemptIsPending),
        new Broken("empties the body of a task if a reset omits it", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
            return delegate.submit(drafts.stream()
                .map(draft -> draft.body() == null ? StoreFixture.withBody(draft, Body.EMPTY) : draft).toList());
          }
        }, true, TaskStoreContract::anOmittedBodyIsKeptByAResetAndEmptyInANewTask),
        new Broken("resets a task that it should keep", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
            return delegate.submit(drafts.stream()
                .map(draft -> new Draft(draft.id(), draft.queue(), draft.key(), draft.due(), draft.body(),
                    draft.maxAttempts(), OnConflict.RESET, draft.idempotency()))
                .toList());
          }
        }, true, TaskStoreContract::aDraftWithKeepLeavesTheLiveTaskUnchanged,
            TaskStoreContract::aDraftWithRejectIsRefusedIfTheKeyIsLive,
            TaskStoreContract::amongManySubmittersOneCreatesTheTaskOfAKey),
        new Broken("returns the previous generation from a touch", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<TouchResult>> touch(List<Touch> touches) {
            return changed(touches, delegate.touch(touches), (touch, result) -> new TouchResult(result.kind(),
                result.id(), result.generation() - 1, result.dueAt(), result.indexed()));
          }
        }, true, TaskStoreContract::aTouchMovesTheDeadlineAndKeepsTheRest,
            TaskStoreContract::theGenerationsOfAKeyOnlyGrow),
        new Broken("lets a touch revive a task that is being cancelled", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<TouchResult>> touch(List<Touch> touches) {
            for (Touch touch : touches) {
              TaskRecord task = read(touch.ref());
              if (task != null && task.cancelRequested() && task.key() != null) {
                StoreFixture.get(delegate.submit(List.of(new Draft(task.id(), task.queue(), task.key(), touch.due(),
                    null, 0, OnConflict.RESET, null))));
              }
            }
            return delegate.touch(touches);
          }
        }, true, TaskStoreContract::aTouchDoesNotReviveATaskWithAPendingCancel),
        new Broken("adds delays to a clock that is 40 ms slow", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
            return delegate.submit(drafts.stream().map(draft -> draft.due() instanceof Due.After after
                ? StoreFixture.withDue(draft, Due.at(clock.wallMillis() - 40 + after.delayMillis()))
                : draft).toList());
          }
        }, true, TaskStoreContract::aDelayIsAddedToTheStoresClockAndRoundedUp),
        new Broken("delays a task that is due at once by a millisecond", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<TouchResult>> touch(List<Touch> touches) {
            return delegate.touch(touches.stream().map(touch -> new Touch(touch.ref(),
                touch.due() == Due.NOW ? Due.after(1) : touch.due())).toList());
          }
        }, true, TaskStoreContract::aDelayOfZeroIsDueAtOnce),
        new Broken("ignores idempotency keys", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
            return delegate.submit(drafts.stream().map(draft -> new Draft(draft.id(), draft.queue(), draft.key(),
                draft.due(), draft.body(), draft.maxAttempts(), draft.onConflict(), null)).toList());
          }
        }, true, TaskStoreContract::aRepeatedRequestReturnsTheFirstResult,
            TaskStoreContract::anIdempotencyKeyWithAnotherBodyIsRefused,
            TaskStoreContract::amongManyRepeatedRequestsOneCreatesATask,
            TaskStoreContract::anIdempotencyKeyIsKeptForADay),
        new Broken("returns the results of a batch in another order", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
            return delegate.submit(drafts).thenApply(
                results -> results.stream().sorted(Comparator.comparing(SubmitResult::id)).toList());
          }
        }, true, TaskStoreContract::aBatchReturnsResultsInTheOrderOfItsItems,
            TaskStoreContract::draftsOfOneKeyInABatchActInOrder),
        new Broken("treats keys that differ in case as the same key", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
            return delegate.submit(drafts.stream().map(draft -> {
              String key = draft.key();
              return new Draft(draft.id(), draft.queue(), key == null ? null : key.toLowerCase(Locale.ROOT),
                  draft.due(), draft.body(), draft.maxAttempts(), draft.onConflict(), draft.idempotency());
            }).toList());
          }
        }, false, TaskStoreContract::keysThatDifferInOneCharacterAreDistinct),
        new Broken("keeps instants in 32 bits of seconds", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
            return delegate.submit(drafts.stream()
                .map(draft -> new Draft(draft.id(), draft.queue(), draft.key(),
                    Due.at(Math.clamp(StoreFixture.dueAt(draft), 0, Integer.MAX_VALUE * 1_000L)), draft.body(),
                    draft.maxAttempts(),
                    draft.onConflict(), draft.idempotency()))
                .toList());
          }
        }, true, TaskStoreContract::aTaskMayBeDueAtAnyInstant),
        new Broken("drops the end of a large batch", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
            return delegate.submit(drafts.subList(0, Math.min(drafts.size(), 8_192)));
          }
        }, false, TaskStoreContract::theLargestBatchFits));
  }

  private static List<Broken> cancels() {
    return List.of(new Broken("does not cancel a running task", clock -> new WrappedStore(sound(clock)) {
      @Override
      public CompletionStage<List<CancelResult>> cancel(List<TaskRef> refs) {
        List<CancelResult> results = new ArrayList<>();
        for (TaskRef ref : refs) {
          TaskRecord task = read(ref);
          results.add(task != null && task.state() == TaskState.RUNNING
              ? new CancelResult(Cancellation.CANCEL_PENDING, task.id(), task.generation())
              : StoreFixture.one(delegate.cancel(List.of(ref))));
        }
        return CompletableFuture.completedFuture(results);
      }
    }, true, TaskStoreContract::aCancelOfARunningTaskIsPendingAndNoNewClaimWins,
        TaskStoreContract::aPendingCancelEndsATaskThatDoesNotSucceed, TaskStoreContract::aCancelDropsTheSuccessor),
        new Broken("reports cancelled while an attempt is outstanding", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<CancelResult>> cancel(List<TaskRef> refs) {
            return changed(refs, delegate.cancel(refs), (ref, result) -> {
              TaskRecord task = read(ref);
              return result.kind() == Cancellation.CANCEL_PENDING && task != null && !task.isLive()
                  ? new CancelResult(Cancellation.CANCELLED, result.id(), result.generation())
                  : result;
            });
          }
        }, true, TaskStoreContract::aCancelAfterTheLeaseEndsTheTaskButReturnsPending,
            TaskStoreContract::aCancelWithAnOutstandingAttemptEndsTheTaskButReturnsPending,
            TaskStoreContract::anAttemptStaysOutstandingAfterALaterSettle));
  }

  private static List<Broken> indexes() {
    return List.of(new Broken("begins every page at the start of the range", clock -> new WrappedStore(sound(clock)) {
      @Override
      public CompletionStage<List<DueSlice>> due(List<DueScan> scans) {
        return delegate.due(scans.stream().map(
            scan -> new DueScan(scan.slot(), scan.fromWakeAt(), null, scan.toWakeAt(), scan.limit())).toList());
      }
    }, true, TaskStoreContract::aScanContinuesAfterTheLastEntryOfAPage),
        new Broken("skips entries at the instant at which a page ended", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<DueSlice>> due(List<DueScan> scans) {
            return delegate.due(scans.stream().map(scan -> scan.after() == null
                ? scan
                : new DueScan(scan.slot(), scan.fromWakeAt() + 1, null, scan.toWakeAt(), scan.limit())).toList());
          }
        }, false, TaskStoreContract::aScanContinuesAfterTheLastEntryOfAPage),
        new Broken("leaves out the end of a range", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<DueSlice>> due(List<DueScan> scans) {
            return delegate.due(scans.stream().map(scan -> new DueScan(scan.slot(), scan.fromWakeAt(), scan.after(),
                scan.toWakeAt() - 1, scan.limit())).toList());
          }
        }, true, TaskStoreContract::bothEndsOfARangeAreInclusive),
        new Broken("reports more whenever a page is full", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<DueSlice>> due(List<DueScan> scans) {
            return changed(scans, delegate.due(scans), (scan, slice) -> new DueSlice(slice.slot(), slice.entries(),
                slice.entries().size() == scan.limit()));
          }
        }, true, TaskStoreContract::onlyAPageCutByItsLimitHasMore),
        new Broken("leaves the entry in place after the result Later", clock -> new WrappedStore(sound(clock)) {
          private final Map<TaskId, DueEntry> old = new ConcurrentHashMap<>();

          @Override
          public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
            for (Claim claim : claims) {
              TaskRecord task = read(claim.id());
              if (task != null) {
                old.put(claim.id(), new DueEntry(task.wakeAt(), task.id(), task.queue()));
              }
            }
            return delegate.claim(claims).thenApply(batch -> {
              for (int i = 0; i < claims.size(); i++) {
                if (!(batch.results().get(i) instanceof ClaimResult.Later)) {
                  old.remove(claims.get(i).id());
                }
              }
              return batch;
            });
          }

          @Override
          public CompletionStage<List<DueSlice>> due(List<DueScan> scans) {
            return changed(scans, delegate.due(scans), (scan, slice) -> new DueSlice(slice.slot(),
                slice.entries().stream().map(entry -> Optional.ofNullable(old.get(entry.id())).orElse(entry)).toList(),
                slice.more()));
          }
        }, true, TaskStoreContract::aLaterResetLeavesTheIndexUntilTheNextClaim,
            TaskStoreContract::anExtensionMovesTheLeaseEndAndLeavesTheIndexAlone),
        new Broken("moves the entry with every reset", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<TouchResult>> touch(List<Touch> touches) {
            return delegate.touch(touches).thenCompose(results -> delegate
                .park(touches.stream().map(touch -> read(touch.ref())).filter(task -> task != null && task.isLive())
                    .map(task -> new DueEntry(task.wakeAt(), task.id(), task.queue())).toList())
                .thenApply(parked -> results));
          }
        }, true, TaskStoreContract::aLaterResetLeavesTheIndexUntilTheNextClaim));
  }

  private static List<Broken> parks() {
    return List.of(new Broken("lists parked tasks in the index", clock -> new WrappedStore(sound(clock)) {
      @Override
      public CompletionStage<List<DueSlice>> due(List<DueScan> scans) {
        return changed(scans, delegate.due(scans), (scan, slice) -> {
          List<DueEntry> entries = new ArrayList<>(slice.entries());
          for (String queue : StoreFixture.get(delegate.parkedQueues(SlotSet.all(slotCount())))) {
            StoreFixture.get(delegate.parked(queue, SlotSet.all(slotCount()), null, 1_000)).stream()
                .filter(entry -> entry.id().slot(slotCount()) == scan.slot()).forEach(entries::add);
          }
          return new DueSlice(slice.slot(), entries, slice.more());
        });
      }
    }, true, TaskStoreContract::aTaskThatIsDueCanBeParked),
        new Broken("reports an entry that is not due as parked", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<Boolean>> park(List<DueEntry> entries) {
            return changed(entries, delegate.park(entries), (entry, parked) -> true);
          }
        }, true, TaskStoreContract::parkingATaskThatIsNotDueMovesItsEntryToTheDueTime,
            TaskStoreContract::aRunningTaskIsNotParkedUntilItsLeaseHasEnded,
            TaskStoreContract::aParkWithAnOldEntryDoesNothing),
        new Broken("lists parked tasks of all slots", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<DueEntry>> parked(String queue, SlotSet slots, @Nullable DueEntry after,
              int limit) {
            return delegate.parked(queue, SlotSet.all(slotCount()), after, limit);
          }
        }, false, TaskStoreContract::parkedTasksAreListedBySlot),
        new Broken("lists the first parked tasks on every page", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<DueEntry>> parked(String queue, SlotSet slots, @Nullable DueEntry after,
              int limit) {
            return delegate.parked(queue, slots, null, limit);
          }
        }, false, TaskStoreContract::parkedTasksAreListedInOrderPageByPage,
            TaskStoreContract::parkedTasksOfAllSlotsAreListedOnceEach));
  }

  /** Completes a stage, but fails the whole call if an item failed, with the reason of this item. */
  private static <R> CompletionStage<List<R>> wholeOrNothing(CompletionStage<List<R>> stage) {
    return stage.exceptionallyCompose(failure -> CompletableFuture.failedFuture(
        failure instanceof ItemsFailedException partly ? partly.failure() : failure));
  }

  private static List<Broken> full() {
    return List.of(new Broken("refuses all settlements of a call if one finds no room",
        clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
            return wholeOrNothing(delegate.settle(settlements));
          }
        }, false, TaskStoreContract::aSettlementThatFindsNoRoomLeavesItsNeighbours),
        new Broken("refuses all drafts of a call if one finds no room", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
            return wholeOrNothing(delegate.submit(drafts));
          }
        }, false, TaskStoreContract::aSubmitThatFindsNoRoomLeavesItsNeighbours));
  }

  private static List<Broken> moves() {
    return List.of(new Broken("lists final tasks among the live tasks", clock -> new WrappedStore(sound(clock)) {
      @Override
      public CompletionStage<RecordPage> live(int limit, @Nullable String cursor) {
        return delegate.query(StoreFixture.QUEUE, null, limit, cursor);
      }
    }, false, TaskStoreContract::liveTasksOfAllQueuesAreListedOnceEach),
        new Broken("ends the leases of tasks that it adopts", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<Boolean>> adopt(List<TaskRecord> tasks) {
            return delegate.adopt(tasks.stream().map(task -> task.state() == TaskState.RUNNING
                ? task.edit().state(TaskState.DELAYED).successor(null).cancelRequested(false).wakeAt(task.dueAt())
                    .done()
                : task).toList());
          }
        }, false, TaskStoreContract::anAdoptedTaskIsUnchanged),
        new Broken("reports a task as adopted that it could not adopt", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<List<Boolean>> adopt(List<TaskRecord> tasks) {
            return delegate.adopt(tasks).thenApply(results -> tasks.stream().map(task -> true).toList());
          }
        }, false, TaskStoreContract::anAdoptedTaskDoesNotReplaceTheLiveTaskOfItsKey));
  }

  private static List<Broken> records() {
    return List.of(new Broken("loses its tasks when it is closed", BrokenStoresTest::sound, false,
        TaskStoreContract::completedCallsSurviveCloseAndReopen),
        new Broken("does not keep final tasks", clock -> new WrappedStore(sound(clock)) {
          @Override
          public void configure(String queue, QueueTerms terms) {
            delegate.configure(queue,
                new QueueTerms(terms.maxAttempts(), terms.maxWaitMillis(), terms.maxRunMillis(), 0, 0));
          }
        }, true, TaskStoreContract::finalTasksVanishInTheirMillisecondAndNotInTheOneBefore),
        new Broken("caches that a queue has no live tasks", clock -> new WrappedStore(sound(clock)) {
          private final Set<String> empty = ConcurrentHashMap.newKeySet();

          @Override
          public CompletionStage<Boolean> hasLive(String queue) {
            return empty.contains(queue)
                ? CompletableFuture.completedFuture(false)
                : delegate.hasLive(queue).thenApply(found -> found || !empty.add(queue));
          }
        }, true, TaskStoreContract::hasLiveIsExactAtOnce,
            TaskStoreContract::hasLiveIncludesCompletedSubmits),
        new Broken("accepts an invalid cursor as the beginning", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<RecordPage> query(String queue, @Nullable TaskState state, int limit,
              @Nullable String cursor) {
            return delegate.query(queue, state, limit, cursor).exceptionallyCompose(
                failure -> delegate.query(queue, state, limit, null));
          }
        }, false, TaskStoreContract::anInvalidCursorIsRefused),
        new Broken("distinguishes READY from DELAYED by the stored state", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<RecordPage> query(String queue, @Nullable TaskState state, int limit,
              @Nullable String cursor) {
            return delegate.query(queue, null, limit, cursor).thenApply(page -> new RecordPage(page.tasks().stream()
                .filter(task -> state == null || task.state() == state).toList(), page.cursor()));
          }
        }, true, TaskStoreContract::aQueryFiltersByStateAndByTheClock,
            TaskStoreContract::aQueryListsParkedTasksToo),
        new Broken("writes documents regardless of their version", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<Boolean> writeDocument(DocumentKind kind, String name, long expectedVersion,
              byte @Nullable [] content) {
            return delegate.document(kind, name).thenCompose(
                old -> delegate.writeDocument(kind, name, old.isEmpty() ? 0 : old.orElseThrow().version(), content));
          }
        }, false, TaskStoreContract::aDocumentIsWrittenOnlyIfItsVersionIsTheExpectedOne,
            TaskStoreContract::aDeletedDocumentIsGoneAndItsVersionsAreNotReused),
        new Broken("finds only live tasks by key", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<Optional<TaskRecord>> find(TaskRef ref) {
            return delegate.find(ref)
                .thenApply(found -> found.filter(task -> ref instanceof TaskRef.ById || task.isLive()));
          }
        }, true, TaskStoreContract::aKeyFindsItsLatestFinalTask),
        new Broken("reports a time one second ahead of its clock", clock -> new WrappedStore(sound(clock)) {
          @Override
          public CompletionStage<Long> timeMicros(int slot) {
            return delegate.timeMicros(slot).thenApply(micros -> micros + Duration.ofSeconds(1).toNanos() / 1_000);
          }
        }, false, TaskStoreContract::theStoreFollowsItsClock));
  }
}
