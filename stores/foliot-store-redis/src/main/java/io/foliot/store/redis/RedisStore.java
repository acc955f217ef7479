package io.foliot.store.redis;

import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.Durability;
import io.foliot.core.store.EndedLeases;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.Probed;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SlotGrowth;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import io.lettuce.core.protocol.CommandType;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store in Redis, 6.2 or later: one server, servers behind Sentinel, or a cluster. Its durability class is B. The
 * server's settings determine the window of writes that a failure may lose; {@link #durability} returns this window.
 *
 * <p>The tasks are divided into parts. Each part has an ordered set of {@code (wakeAt, id, queue)}, a hash of records,
 * a hash of keys, and a hash of bodies, all under one hash tag. A call runs one script for many tasks of a part. The
 * script takes the time from the server's clock. Parts do not wait for each other. A reset to a later time usually
 * writes only one field of one hash.
 *
 * <p><b>Threads.</b> Stages complete on the connection's thread. Code that a caller runs there must be short, and must
 * not wait for another call of the store. Longer code must run elsewhere ({@code whenCompleteAsync}).
 *
 * <p><b>Failures.</b> While the server is unavailable, calls fail at once, and the store tries to connect again
 * forever. If the answer of a call is lost, the call is not repeated. It fails, and may or may not have taken effect.
 */
public final class RedisStore implements TaskStore, SlotGrowth {
  /**
   * Maximum number of keys in each of the two maps of a cache. The cache holds the latest known task of a key. A touch
   * by key needs no lookup of the key while this task waits. Each map takes some 20 MB.
   */
  private static final int KEYS_REMEMBERED = 150_000;
  /**
   * Maximum number of tasks in each of the two maps of a cache. The cache holds the queue of a claimed task. A settle
   * does not name the queue, but needs the queue's retention. Each map takes some 10 MB.
   */
  private static final int CLAIMS_REMEMBERED = 100_000;
  /** Version of the layout of keys. */
  private static final byte[] FORMAT = Layout.bytes("3");

  /**
   * The sources that tests replace.
   *
   * @param tokens the source of tokens
   * @param time the Lua expression for the clock in the scripts
   */
  record Seams(Supplier<Token> tokens, String time) {
    static Seams real() {
      return new Seams(new SecureTokens(), Script.SERVER_TIME);
    }
  }

  private final RedisOptions options;
  private final Link link;
  private final Layout layout;
  private final Partitions parts;
  private final int slotCount;
  private final Terms terms = new Terms();
  private final BatchExecutor calls;
  private final Reads reads;
  private final EndedLeases endedLeases;
  private final Documents documents;
  private final SubmitStep submits;
  private final TouchStep touches;
  private final ClaimStep claims;
  private final SettleStep settles;
  private final Upkeep upkeep;
  private volatile Durability durability;

  private RedisStore(RedisOptions options, Seams seams, Link link) {
    this.options = options;
    this.link = link;
    layout = new Layout(options.namespace());
    ServerFacts facts = ServerFacts.read(link).join();
    facts.ensureNothingIsEvicted();
    link.use(Script.load(seams.time(), facts.version()));
    durability = facts.durability(options.waitReplicas(), failsOver());
    parts = openParts(layout);
    slotCount = parts.state().count();
    calls = new BatchExecutor(link, layout, parts, terms, seams.tokens(),
        new Asides(link, layout, options.onSetAside()));
    reads = new Reads(link, layout, parts, calls, slotCount);
    endedLeases = new EndedLeases(this, reads::leaseEnds, System::nanoTime);
    documents = new Documents(link, layout);
    Recent<TaskId, String> queues = new Recent<>(CLAIMS_REMEMBERED);
    submits = new SubmitStep(terms);
    touches = new TouchStep(terms, new Recent<>(KEYS_REMEMBERED));
    claims = new ClaimStep(seams.tokens(), queues);
    settles = new SettleStep(terms, queues);
    upkeep = new Upkeep(link, layout, parts, calls, this::refresh);
    upkeep.start();
  }

  /** Updates the durability from the server's settings, which may change while the server runs. */
  private void refresh(ServerFacts facts) {
    durability = facts.durability(options.waitReplicas(), failsOver());
  }

  /**
   * Opens the store, or creates it. Blocks until the server has answered.
   *
   * @throws StoreException if the server does not answer, or evicts keys, or has a store of another version; the
   *     message names the cause and the remedy
   */
  public static RedisStore open(RedisOptions options) {
    return open(options, Seams.real());
  }

  /**
   * Returns whether the namespace contains a store. Changes nothing. Blocks until the server has answered.
   *
   * @throws StoreException if the server does not answer
   */
  public static boolean exists(RedisOptions options) {
    try (Link link = Link.open(options)) {
      byte[] slots = new Layout(options.namespace()).global("slots");
      List<Object> found = link.command(CommandType.HGET, slots, Layout.bytes("format")).join();
      return !found.isEmpty() && found.getFirst() != null;
    } catch (CompletionException e) {
      throw Link.failure(e);
    }
  }

  static RedisStore open(RedisOptions options, Seams seams) {
    Link link = Link.open(options);
    try {
      return new RedisStore(options, seams, link);
    } catch (CompletionException e) {
      link.close();
      throw Link.failure(e);
    } catch (RuntimeException e) {
      link.close();
      throw e;
    }
  }

  private boolean failsOver() {
    return link.isCluster() || options.uri().contains("-sentinel:");
  }

  /** Writes the properties of a new store, except those that another node has written. A full server refuses this. */
  private List<Object> create(byte[] slots, byte[][] fields) {
    byte[] wanted = Layout.bytes(Integer.numberOfTrailingZeros(options.slots()));
    Link.Pipeline pipeline = link.pipeline();
    CompletionStage<?> format = pipeline.command(CommandType.HSETNX, slots, Layout.bytes("format"), FORMAT);
    // This order ensures that a store with one of these fields also has the earlier fields.
    CompletionStage<?> complete = pipeline.command(CommandType.HSETNX, slots, Layout.bytes("complete"), wanted);
    CompletionStage<?> bits = pipeline.command(CommandType.HSETNX, slots, Layout.bytes("bits"), wanted);
    CompletionStage<List<Object>> read = pipeline.command(CommandType.HMGET, slots, fields);
    pipeline.send();
    return format.thenCombine(complete, (one, two) -> one).thenCombine(bits, (one, two) -> one)
        .thenCombine(read, (done, reply) -> reply)
        .toCompletableFuture().join();
  }

  private Partitions openParts(Layout layout) {
    byte[] slots = layout.global("slots");
    byte[][] fields = {Layout.bytes("format"), Layout.bytes("bits"), Layout.bytes("complete")};
    List<Object> found = link.command(CommandType.HMGET, slots, fields).join();
    if (found.stream().anyMatch(Objects::isNull)) {
      found = create(slots, fields);
    }
    long known = Layout.number((byte[]) found.getFirst());
    if (known != Layout.number(FORMAT)) {
      throw new StoreException("another version wrote the store; use that version, or another namespace: namespace="
          + options.namespace() + ", format=" + known + ", known=" + Layout.number(FORMAT), null);
    }
    int slotBits = (int) Layout.number((byte[]) found.get(1));
    return new Partitions(slotBits, slotBits == Layout.number((byte[]) found.get(2)));
  }

  /**
   * Returns the number of slots, which does not change while the store is open. After {@link #doubleSlots}, a slot of
   * this store consists of several parts, and a store that is opened later has more slots.
   */
  @Override
  public int slotCount() {
    return slotCount;
  }

  Link link() {
    return link;
  }

  SlotDoubling doubling() {
    return new SlotDoubling(link, layout, parts, calls);
  }

  /**
   * {@inheritDoc}
   *
   * <p>A store that is open keeps the number of slots with which it was opened. There are 65,536 slots at most.
   */
  @Override
  public Progress doubleSlots(Consumer<Progress> progress) {
    return doubling().run(progress);
  }

  @Override
  public Durability durability() {
    return durability;
  }

  @Override
  public String kind() {
    return "redis";
  }

  @Override
  public boolean isShared() {
    return true;
  }

  @Override
  public int batchSize() {
    return 1_000;
  }

  @Override
  public void configure(String queue, QueueTerms queueTerms) {
    terms.byQueue().configure(queue, queueTerms);
  }

  @Override
  public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
    return calls.run(submits, drafts);
  }

  @Override
  public CompletionStage<List<TouchResult>> touch(List<Touch> items) {
    return calls.run(touches, items);
  }

  @Override
  public CompletionStage<List<CancelResult>> cancel(List<TaskRef> refs) {
    return calls.run(new RareStep.Cancel(), refs);
  }

  @Override
  public CompletionStage<List<Boolean>> park(List<DueEntry> entries) {
    return calls.run(new ParkStep(), entries);
  }

  @Override
  public CompletionStage<ClaimBatch> claim(List<Claim> items) {
    return calls.run(claims, items)
        .thenApply(results -> new ClaimBatch(
            results.stream().mapToLong(ClaimStep.TimedResult::nowMillis).max().orElse(0),
            results.stream().map(ClaimStep.TimedResult::result).toList()))
        .exceptionally(thrown -> {
          throw ClaimStep.untimed(Link.failure(thrown));
        });
  }

  @Override
  public CompletionStage<List<ExtendResult>> extend(List<Extension> extensions) {
    return calls.run(new RareStep.Extend(), extensions);
  }

  @Override
  public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
    return calls.run(settles, settlements);
  }

  @Override
  public CompletionStage<List<RedriveResult>> redrive(List<Redrive> redrives) {
    return calls.run(new RareStep.Redrives(), redrives);
  }

  @Override
  public CompletionStage<List<Boolean>> adopt(List<TaskRecord> tasks) {
    return calls.run(new RareStep.Adopt(), tasks);
  }

  @Override
  public CompletionStage<List<DueSlice>> due(List<DueScan> scans) {
    return reads.due(scans);
  }

  @Override
  public CompletionStage<List<DueEntry>> parked(String queue, SlotSet slots, @Nullable DueEntry after, int limit) {
    return reads.parked(queue, slots, after, limit);
  }

  @Override
  public CompletionStage<List<Probed>> probe(List<TaskId> ids) {
    return reads.probe(ids);
  }

  @Override
  public CompletionStage<Set<String>> parkedQueues(SlotSet slots) {
    return reads.parkedQueues(slots);
  }

  @Override
  public CompletionStage<Optional<TaskRecord>> find(TaskRef ref) {
    return reads.find(ref);
  }

  @Override
  public CompletionStage<List<Optional<TaskRecord>>> find(List<TaskId> ids) {
    return reads.find(ids);
  }

  @Override
  public CompletionStage<RecordPage> query(String queue, @Nullable TaskState state, int limit,
      @Nullable String cursor) {
    return reads.query(queue, state, limit, cursor);
  }

  @Override
  public CompletionStage<RecordPage> live(int limit, @Nullable String cursor) {
    return reads.live(limit, cursor);
  }

  @Override
  public CompletionStage<Map<String, QueueCounts>> counts() {
    return reads.counts().thenCompose(endedLeases::correct);
  }

  @Override
  public CompletionStage<Boolean> hasLive(String queue) {
    return reads.hasLive(queue);
  }

  @Override
  public CompletionStage<Long> timeMicros(int slot) {
    return reads.timeMicros(slot);
  }

  @Override
  public CompletionStage<Optional<Document>> document(DocumentKind kind, String name) {
    return documents.document(kind, name);
  }

  @Override
  public CompletionStage<List<Document>> documents(DocumentKind kind) {
    return documents.documents(kind);
  }

  @Override
  public CompletionStage<Boolean> writeDocument(DocumentKind kind, String name, long expectedVersion,
      byte @Nullable [] content) {
    return documents.write(kind, name, expectedVersion, content);
  }

  @Override
  public void close() {
    upkeep.close();
    link.close();
  }
}
