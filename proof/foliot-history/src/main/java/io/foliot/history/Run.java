package io.foliot.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A history with matched events: operations with their answers, deliveries with replies, and faults as windows. */
final class Run {
  final List<Operation> operations = new ArrayList<>();
  final List<Delivery> deliveries = new ArrayList<>();
  final FaultWindows faults;
  final Forgotten forgotten;
  final long endMillis;

  /** The windows of those faults that delay messages in transit. */
  private final FaultWindows delays;
  private final Allowances allowances;

  Run(List<Event> events, Allowances allowances) {
    this.allowances = allowances;
    forgotten = new Forgotten(events, allowances);
    Map<Long, Operation> operationOf = new HashMap<>();
    Map<Long, Delivery> deliveryOf = new HashMap<>();
    Map<Long, Event.FaultBegan> open = new HashMap<>();
    List<FaultWindows.Window> windows = new ArrayList<>();
    List<FaultWindows.Window> delaying = new ArrayList<>();
    long end = Long.MIN_VALUE;
    for (Event event : events) {
      switch (event) {
        case Event.Invoked invoked -> {
          Operation operation = new Operation(invoked);
          operations.add(operation);
          ensureNew(operationOf.put(invoked.op(), operation), event);
        }
        case Event.Answered answered ->
          begun(operationOf.get(answered.op()), event).answer(forgotten.judged(answered));
        case Event.Began began -> {
          Delivery delivery = new Delivery(began);
          deliveries.add(delivery);
          ensureNew(deliveryOf.put(began.delivery(), delivery), event);
        }
        case Event.Replied replied -> begun(deliveryOf.get(replied.delivery()), event).reply(replied);
        case Event.FaultBegan fault -> ensureNew(open.put(fault.window(), fault), event);
        case Event.FaultEnded ended ->
          add(begun(open.remove(ended.window()), event), ended.atMillis(), allowances.clockErrorMillis(), windows,
              delaying);
        case Event.Forgot forgot -> {
          // Handled by Forgotten.
        }
        case Event.RunEnded ended -> end = Math.max(end, ended.atMillis());
      }
    }
    if (end == Long.MIN_VALUE) {
      throw new IllegalArgumentException(
          "a history must record the end of its run; without it no loss can be detected");
    }
    open.values().forEach(fault -> add(fault, FaultWindows.NEVER, allowances.clockErrorMillis(), windows, delaying));
    endMillis = end;
    faults = new FaultWindows(windows);
    delays = new FaultWindows(delaying);
    operations.forEach(operation -> operation.bound(faults, allowances.graceMillis()));
  }

  /** Returns the earliest instant, on any of the clocks, at which a delivery can have begun. */
  long begunMillis(Delivery delivery) {
    return delays.begunMillis(delivery.arrivedMillis(), allowances.transitMillis()) - allowances.clockErrorMillis();
  }

  /** Returns whether the system must have read a successful answer of a delivery, unless a fault prevented that. */
  boolean succeededInTime(Delivery delivery) {
    return (delivery.was(Event.Reception.SUCCESS) || delivery.was(Event.Reception.AGAIN)) && isInTime(delivery);
  }

  /**
   * Returns whether the claim of a delivery must have been valid at an instant, or made later, unless a fault
   * intervened.
   */
  boolean outlived(Delivery delivery, long millis) {
    return begunMillis(delivery) > millis || (delivery.lastMillis() - allowances.clockErrorMillis() > millis
        && delivery.isReplied() && isInTime(delivery));
  }

  /**
   * Returns whether a fault may explain an anomaly between two attempts of a firing; both may be the same attempt. A
   * fault may delay an attempt until another node has the claim. The delayed attempt begins within the grace time after
   * the fault. So a fault that ended more than the grace time before the first attempt explains nothing.
   */
  boolean isDisturbed(Firing firing, Delivery first, Delivery last) {
    long from = Math.max(firing.dueMillis(), first.arrivedMillis() - allowances.graceMillis());
    return faults.touches(from, last.arrivedMillis());
  }

  private boolean isInTime(Delivery delivery) {
    long readMillis = delivery.lastMillis() + allowances.transitMillis();
    return readMillis - begunMillis(delivery) < allowances.deliveryTimeoutMillis();
  }

  private static void add(Event.FaultBegan fault, long toMillis, long clockErrorMillis,
      List<FaultWindows.Window> windows, List<FaultWindows.Window> delaying) {
    // Clocks differ: on another clock the fault may have begun earlier or ended later.
    long to = toMillis == FaultWindows.NEVER ? toMillis : toMillis + clockErrorMillis;
    FaultWindows.Window window = new FaultWindows.Window(fault.atMillis() - clockErrorMillis, to);
    windows.add(window);
    if (fault.fault().delaysArrivals()) {
      delaying.add(window);
    }
  }

  private static <T> T begun(@Nullable T beginning, Event end) {
    if (beginning == null) {
      throw new IllegalArgumentException("an event ends something that has not begun: " + end);
    }
    return beginning;
  }

  private static void ensureNew(@Nullable Object other, Event event) {
    if (other != null) {
      throw new IllegalArgumentException("two events begin with the same number: " + event);
    }
  }
}
