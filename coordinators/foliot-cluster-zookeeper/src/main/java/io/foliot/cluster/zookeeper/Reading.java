package io.foliot.cluster.zookeeper;

import io.foliot.cluster.zookeeper.Ensemble.Children;
import io.foliot.cluster.zookeeper.Ensemble.Content;
import io.foliot.core.coordination.Coordinator.Member;
import io.foliot.core.store.format.UnreadableException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The latest members, leader and document that one session has read.
 *
 * <p>A read takes place each second, so it must cost little if nothing has changed. Each read fetches two lists of
 * names and the version of the document. The members are read only if their list has changed, the leader only if the
 * smallest node of the election has changed, and the document only if its version has changed.
 */
final class Reading {
  private static final System.Logger LOG = System.getLogger(Reading.class.getName());
  /** Prefix of the names that Curator gives to an election's nodes; a number follows. */
  private static final String CANDIDATE = "latch-";

  private final Ensemble ensemble;
  private final Paths paths;
  private final Executor loop;
  private final Watcher watcher;
  private final long session;

  // Used only by the loop's thread: the latest state that was read.
  private List<Member> members = List.of();
  private final Map<Long, Member> membersBySession = new HashMap<>();
  /** Names of members whose records cannot be decoded; each is logged once. */
  private final Set<String> setAside = new HashSet<>();
  /** {@link Children#changeId} at the latest read of {@link #members}; -1 before the first read. */
  private long membersChangeId = -1;
  /** Smallest node of the election at the latest read; null if there was none. */
  private @Nullable String first;
  /** Session that owns {@link #first}; not used while {@code first} is null. */
  private long firstSession;
  private @Nullable Content document;

  /**
   * Creates an empty reading.
   *
   * @param session the session that owns this member's ephemeral nodes
   * @param loop runs the continuations of ZooKeeper's responses
   * @param watcher called when the members or the document may have changed
   */
  Reading(Ensemble ensemble, long session, Paths paths, Executor loop, Watcher watcher) {
    this.ensemble = ensemble;
    this.paths = paths;
    this.loop = loop;
    this.watcher = watcher;
    this.session = session;
  }

  long session() {
    return session;
  }

  /**
   * The state of the cluster at one reading.
   *
   * @param members the members in the order of their names
   * @param leader the name of the member whose session owns the smallest node of the election; null if there
   *     is no such node, or its session belongs to no member
   * @param document the document, or null if there is none
   * @param version the version of the document, counted from 1; 0 if there is none
   * @param changeId the id of ZooKeeper's latest transaction that changed the document; 0 if there is no document
   * @param candidates the names of the nodes of the election
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Seen(List<Member> members, @Nullable String leader, byte @Nullable [] document, long version, long changeId,
      List<String> candidates) {}

  /** Reads everything that may have changed. */
  CompletableFuture<Seen> read() {
    // The three requests are sent one after the other, without waiting for a response. ZooKeeper responds in this
    // order.
    CompletableFuture<Children> members = ensemble.children(paths.members(), watcher);
    CompletableFuture<Children> candidates = ensemble.children(paths.leader(), null);
    CompletableFuture<@Nullable Stat> stat = ensemble.stat(paths.assignment(), watcher);
    return members.thenComposeAsync(this::readMembers, loop)
        .thenCombine(candidates, (done, found) -> found)
        .thenComposeAsync(found -> readFirst(found).thenApply(done -> found), loop)
        .thenCombine(stat, (found, document) -> new Known(found, document))
        .thenComposeAsync(known -> readDocument(known.document()).thenApply(done -> known.candidates()), loop)
        .thenApplyAsync(this::seen, loop);
  }

  private record Known(Children candidates, @Nullable Stat document) {}

  private Seen seen(Children candidates) {
    Member leader = first == null ? null : membersBySession.get(firstSession);
    Content read = document;
    return read == null
        ? new Seen(members, nameOf(leader), null, 0, 0, candidates.names())
        : new Seen(members, nameOf(leader), read.bytes(), read.stat().getVersion() + 1L,
            read.stat().getMzxid(), candidates.names());
  }

  private static @Nullable String nameOf(@Nullable Member member) {
    return member == null ? null : member.node();
  }

  private CompletableFuture<Void> readMembers(Children found) {
    if (found.changeId() == membersChangeId) {
      return CompletableFuture.completedFuture(null);
    }
    Map<String, CompletableFuture<@Nullable Content>> contents = new HashMap<>();
    for (String node : found.names()) {
      contents.put(node, ensemble.content(paths.member(node)));
    }
    return CompletableFuture.allOf(contents.values().toArray(CompletableFuture<?>[]::new)).thenRunAsync(() -> {
      membersBySession.clear();
      setAside.retainAll(found.names());
      List<Member> read = new ArrayList<>();
      contents.forEach((node, content) -> note(node, content.join(), read));
      read.sort(Comparator.comparing(Member::node));
      members = List.copyOf(read);
      membersChangeId = found.changeId();
    }, loop);
  }

  private void note(String node, @Nullable Content content, List<Member> read) {
    if (content == null) {
      return;
    }
    try {
      Member member = MemberRecord.decode(node, content.bytes()).member();
      membersBySession.put(content.stat().getEphemeralOwner(), member);
      read.add(member);
    } catch (UnreadableException e) {
      if (setAside.add(node)) {
        LOG.log(System.Logger.Level.WARNING, "cannot decode a member; ignoring it: node=" + node, e);
      }
    }
  }

  private CompletableFuture<Void> readFirst(Children candidates) {
    String smallest = candidates.names().stream().min(Comparator.comparing(Reading::number)).orElse(null);
    if (smallest == null || smallest.equals(first)) {
      first = smallest;
      return CompletableFuture.completedFuture(null);
    }
    return ensemble.stat(paths.leader() + "/" + smallest, null).thenAcceptAsync(stat -> {
      // If the smallest node is gone by now, the next read searches again.
      first = stat == null ? null : smallest;
      firstSession = stat == null ? 0 : stat.getEphemeralOwner();
    }, loop);
  }

  private static String number(String candidate) {
    int begin = candidate.lastIndexOf(CANDIDATE);
    return begin < 0 ? candidate : candidate.substring(begin);
  }

  private CompletableFuture<Void> readDocument(@Nullable Stat stat) {
    if (stat == null) {
      document = null;
      return CompletableFuture.completedFuture(null);
    }
    if (document != null && document.stat().getMzxid() == stat.getMzxid()) {
      return CompletableFuture.completedFuture(null);
    }
    return ensemble.content(paths.assignment()).thenAcceptAsync(found -> document = found, loop);
  }
}
