package io.foliot.wheel;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A {@link TimerWheel} that holds an object per timer instead of a {@code long}: 20 bytes and a reference per timer.
 * The reference is dropped when the timer expires or is cancelled. Otherwise this class behaves like a
 * {@code TimerWheel}.
 *
 * @param <T> the type of the objects that timers carry
 */
public final class ObjectTimerWheel<T> {
  private static final int MIN_OBJECTS = 16;

  private final TimerWheel wheel;

  /** Object of each timer, indexed by the cell in the timer's handle; null for a cell without a timer. */
  private @Nullable Object[] objects;

  /** Creates a wheel whose current tick is the given one. */
  public ObjectTimerWheel(long startTick) {
    this(startTick, 0);
  }

  /**
   * Creates a wheel with room for a number of timers, so that it need not grow for these.
   *
   * @throws IllegalArgumentException if {@code expectedTimers} is negative or above 2,147,482,624
   */
  public ObjectTimerWheel(long startTick, int expectedTimers) {
    wheel = new TimerWheel(startTick, expectedTimers, false);
    objects = new Object[Math.max(MIN_OBJECTS, expectedTimers)];
  }

  /** As {@link TimerWheel#schedule(long, long)}. */
  public long schedule(long deadlineTick, T object) {
    requireNonNull(object, "object");
    int cell = wheel.nextCell();
    if (cell >= objects.length) {
      objects = Arrays.copyOf(objects, Math.max(cell + 1, objects.length + (objects.length >> 1)));
    }
    long handle = wheel.schedule(deadlineTick, 0);
    objects[cell] = object;
    return handle;
  }

  /** As {@link TimerWheel#schedule(long, long, long)}. */
  public long schedule(long deadlineTick, long slackTicks, T object) {
    return schedule(SlotMap.coarsen(deadlineTick, slackTicks), object);
  }

  /** As {@link TimerWheel#cancel}. */
  public boolean cancel(long handle) {
    boolean cancelled = wheel.cancel(handle);
    if (cancelled) {
      objects[TimerWheel.cell(handle)] = null;
    }
    return cancelled;
  }

  /** As {@link TimerWheel#reschedule}. */
  public boolean reschedule(long handle, long deadlineTick) {
    return wheel.reschedule(handle, deadlineTick);
  }

  /** As {@link TimerWheel#nextWake}. */
  public long nextWake() {
    return wheel.nextWake();
  }

  /** As {@link TimerWheel#advance}. */
  public int advance(long nowTick, int limit, Sink<? super T> sink) {
    requireNonNull(sink, "sink");
    return wheel.advance(nowTick, limit, (handle, deadlineTick, nothing) -> {
      T object = object(handle);
      objects[TimerWheel.cell(handle)] = null;
      sink.accept(handle, deadlineTick, object);
    });
  }

  /** As {@link TimerWheel#size}. */
  public int size() {
    return wheel.size();
  }

  /** As {@link TimerWheel#currentTick}. */
  public long currentTick() {
    return wheel.currentTick();
  }

  /** As {@link TimerWheel#forEach}. */
  public void forEach(Sink<? super T> visitor) {
    requireNonNull(visitor, "visitor");
    wheel.forEach((handle, deadlineTick, nothing) -> visitor.accept(handle, deadlineTick, object(handle)));
  }

  /** Returns the object of a timer. The cast is safe, because only {@link #schedule} fills the array. */
  @SuppressWarnings("unchecked")
  private T object(long handle) {
    return (T) requireNonNull(objects[TimerWheel.cell(handle)], "a live timer has no object");
  }

  @Override
  public String toString() {
    return "ObjectTimerWheel[currentTick=" + currentTick() + ", size=" + size() + "]";
  }

  /**
   * Receives timers.
   *
   * @param <T> the type of the objects that timers carry
   */
  @FunctionalInterface
  public interface Sink<T> {
    /**
     * Takes one timer.
     *
     * @param handle the handle that {@link #schedule} returned
     * @param deadlineTick the deadline that the latest schedule or reschedule set
     * @param object the object that was given to {@code schedule}
     */
    void accept(long handle, long deadlineTick, T object);
  }
}
