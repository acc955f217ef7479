package io.foliot.server.security;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** The caller of a request, with the actions and the queues that the caller may use. */
public final class Caller {
  /** Any caller on this machine, while the server requires no API key. */
  public static final Caller OPEN = new Caller("open", "", EnumSet.of(Action.ADMIN), List.of(QueuePattern.ALL));

  /** An unidentified caller, which may use only the open routes. */
  public static final Caller ANYBODY = new Caller("anybody", "", EnumSet.noneOf(Action.class), List.of());

  private final String name;
  private final String keyId;
  private final Set<Action> actions;
  private final List<QueuePattern> queues;
  private final boolean seesAll;

  Caller(String name, String keyId, Set<Action> actions, List<QueuePattern> queues) {
    this.name = name;
    this.keyId = keyId;
    this.actions = actions;
    this.queues = List.copyOf(queues);
    seesAll = queues.stream().anyMatch(QueuePattern::isAll);
  }

  /** Returns the name of the caller in the audit log. */
  public String name() {
    return name;
  }

  /** Returns the id of the caller's API key; empty if the caller has none. */
  String keyId() {
    return keyId;
  }

  /**
   * Returns the owner of the worker names that the caller uses: its API key. The programs that use an open server own
   * their workers together, and the owner is empty.
   */
  public String owner() {
    return keyId.isEmpty() ? "" : name;
  }

  /** Returns whether the caller may take this action on the queues that the caller sees. */
  public boolean may(Action action) {
    return actions.contains(action) || actions.contains(Action.ADMIN);
  }

  /** Returns whether the caller sees the queue. */
  public boolean sees(String queue) {
    return seesAll || queues.stream().anyMatch(pattern -> pattern.matches(queue));
  }

  /** Returns whether the caller sees all queues. */
  public boolean seesAll() {
    return seesAll;
  }
}
