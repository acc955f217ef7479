package io.foliot.kill;

import io.foliot.backends.Await;
import io.foliot.backends.TcpProxy;
import io.foliot.history.Event;
import java.time.Duration;
import java.util.List;

/**
 * A fault of the store, of the coordinator, of the network, or of one of our servers.
 *
 * @param name the name of the fault in reports
 * @param kind the kind of fault that the history records
 * @param effect the effect of the fault on callers
 * @param breaks begins the fault, and returns when the fault is to be healed
 * @param heals ends the fault
 * @param aftermathMillis how long the fault disturbs calls after its healing; in the history, the fault ends only then
 */
record InjectedFault(String name, Event.Fault kind, Effect effect, Runnable breaks, Runnable heals,
    long aftermathMillis) {
  /**
   * Duration of a silence in the history. A server notices the silence later: of Redis after 5 s to 6.25 s, of a
   * database after up to 20 s.
   */
  private static final long NOTICED_MILLIS = 4_500;

  /** The effect of a fault on callers. */
  enum Effect {
    /** Some calls fail or are delayed. */
    HITCH,
    /** No server can write, so each must report that it is not ready. */
    OUTAGE,
    /** At least one of our servers does not answer, or answers late. */
    SERVER_GONE
  }

  /** Creates a fault without an aftermath. */
  InjectedFault(String name, Event.Fault kind, Effect effect, Runnable breaks, Runnable heals) {
    this(name, kind, effect, breaks, heals, 0);
  }

  /** Returns a fault that needs no healing. */
  static InjectedFault hitch(String name, Event.Fault kind, Runnable breaks) {
    return new InjectedFault(name, kind, Effect.HITCH, breaks, () -> {});
  }

  /** Returns the kill of one of our servers, which is started again at once. */
  static InjectedFault serverKilled(ServerProcess server) {
    return new InjectedFault("one of our servers is killed", Event.Fault.KILL, Effect.SERVER_GONE, server::kill, () -> {
      server.start();
      server.awaitReady();
    });
  }

  /** Returns a pause of one of our servers. */
  static InjectedFault serverFrozen(ServerProcess server, long millis) {
    return new InjectedFault("one of our servers is paused, and continues", Event.Fault.PAUSE, Effect.SERVER_GONE,
        () -> {
          server.freeze();
          Await.pause(millis);
        }, server::thaw);
  }

  /** Returns the kill of one of our servers, which is started again after a time. */
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

  /** Returns an orderly stop of one of our servers, which is then started again. */
  static InjectedFault serverReplaced(ServerProcess server) {
    return new InjectedFault("one of our servers is replaced", Event.Fault.OTHER, Effect.SERVER_GONE, server::stop,
        () -> {
          server.start();
          server.awaitReady();
        });
  }

  /** Returns a fault that cuts servers off from the store for a time. */
  static InjectedFault cutOff(List<TcpProxy> ways, long millis) {
    return new InjectedFault(ways.size() + " of our servers are cut off from the store", Event.Fault.PAUSE,
        Effect.HITCH,
        () -> {
          ways.forEach(TcpProxy::blackHole);
          Await.pause(millis);
        }, () -> ways.forEach(TcpProxy::heal));
  }

  /**
   * Returns a fault that slows the connections of one of our servers to the store for a time.
   *
   * @param each the delay of each chunk of data
   */
  static InjectedFault slow(TcpProxy way, Duration each, long millis) {
    return new InjectedFault("the way of one of our servers to the store is slow", Event.Fault.OTHER, Effect.HITCH,
        () -> {
          way.delay(each);
          Await.pause(millis);
        }, way::heal);
  }

  /**
   * Returns a fault that makes all open connections silent forever, as if the store had lost its power and another
   * store had taken its place.
   */
  static InjectedFault silence(TcpProxy proxy) {
    return hitch("all connections fall silent", Event.Fault.PAUSE, () -> {
      proxy.silence();
      Await.pause(NOTICED_MILLIS);
    });
  }
}
