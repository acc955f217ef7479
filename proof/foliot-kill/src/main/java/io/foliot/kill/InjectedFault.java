package io.foliot.kill;

import io.foliot.backends.Await;
import io.foliot.backends.TcpProxy;
import io.foliot.history.Event;
import java.time.Duration;
import java.util.List;

/**
 * Something that happens to the store's server, or to one of ours.
 *
 * @param name its name, for reports
 * @param fault the kind of fault that the history records
 * @param effect its visible effect
 * @param breaks begins the fault, and runs for as long as it lasts
 * @param heals ends it
 */
record InjectedFault(String name, Event.Fault fault, Effect effect, Runnable breaks, Runnable heals) {
  /** Longer than servers take to see that the store is silent. */
  private static final long NOTICED_MILLIS = 4_500;

  /** The effect of a fault on callers. */
  enum Effect {
    /** Some calls fail, or nothing happens for a while. */
    HITCH,
    /** No server can write, so that each must say that it is not ready. */
    OUTAGE,
    /** One of our servers does not answer. */
    SERVER_GONE
  }

  /** One that is over once it has happened. */
  static InjectedFault hitch(String name, Event.Fault fault, Runnable breaks) {
    return new InjectedFault(name, fault, Effect.HITCH, breaks, () -> {});
  }

  /** The death of one of our servers, and its start over the same store. */
  static InjectedFault serverKilled(ServerProcess server) {
    return new InjectedFault("one of our servers is killed", Event.Fault.KILL, Effect.SERVER_GONE, server::kill, () -> {
      server.start();
      server.awaitReady();
    });
  }

  /** One of our servers is paused for a while and then resumed. */
  static InjectedFault serverFrozen(ServerProcess server, long millis) {
    return new InjectedFault("one of our servers is paused, and continues", Event.Fault.PAUSE, Effect.SERVER_GONE,
        () -> {
          server.freeze();
          Await.pause(millis);
        }, server::thaw);
  }

  /** The death of one of our servers, which is missing for a while. */
  static InjectedFault serverMissing(ServerProcess server, long millis) {
    return new InjectedFault("one of our servers is killed, and missing for a while", Event.Fault.KILL,
        Effect.SERVER_GONE,
        () -> {
          server.kill();
          Await.pause(millis);
        }, () -> {
          server.start();
          server.awaitReady();
        });
  }

  /** The end of one of our servers as operators want it, and its start. */
  static InjectedFault serverReplaced(ServerProcess server) {
    return new InjectedFault("one of our servers is replaced", Event.Fault.OTHER, Effect.SERVER_GONE, server::stop,
        () -> {
          server.start();
          server.awaitReady();
        });
  }

  /** Servers that have no way to the store for a while. */
  static InjectedFault cutOff(List<TcpProxy> ways, long millis) {
    return new InjectedFault(ways.size() + " of our servers are cut off from the store", Event.Fault.PAUSE,
        Effect.HITCH,
        () -> {
          ways.forEach(TcpProxy::blackHole);
          Await.pause(millis);
        }, () -> ways.forEach(TcpProxy::heal));
  }

  /** One of our servers whose way to the store is long for a while. */
  static InjectedFault slow(TcpProxy way, Duration each, long millis) {
    return new InjectedFault("the way of one of our servers to the store is slow", Event.Fault.OTHER, Effect.HITCH,
        () -> {
          way.delay(each);
          Await.pause(millis);
        }, way::heal);
  }

  /**
   * The end of all connections without a word, as where the other side has lost its power, and another takes its place.
   */
  static InjectedFault silence(TcpProxy proxy) {
    return hitch("all connections fall silent", Event.Fault.PAUSE, () -> {
      proxy.silence();
      Await.pause(NOTICED_MILLIS);
    });
  }
}
