package io.foliot.load;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntToLongFunction;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Submits numbered tasks over HTTP, one or many per request. A connection sends its next request at once after a
 * response, unless a rate is set. Submits end after a number of tasks or a time. Counts the acknowledged tasks, and
 * checks that every task got a different id.
 */
final class Submits implements Load.Work {
  private static final byte[] ID = "{\"id\":\"".getBytes(US_ASCII);
  private static final int ID_LENGTH = 36;
  /**
   * Distance between two tasks that are read at the end. It is a prime, so the samples have different places in their
   * batches.
   */
  private static final int SAMPLE_EVERY = 997;
  /** Maximum number of bytes of a response that an error shows. */
  private static final int MAX_SHOWN = 300;
  private static final int CREATED = 201;
  private static final int DONE = 200;

  private final Target target;
  private final String queue;
  private final int batch;
  private final TaskText.Form form;
  private final IntToLongFunction dueMillis;
  private final Target.Blank blank;
  private final int itemLength;

  private int endNumber = Integer.MAX_VALUE;
  private long endNanos = Long.MAX_VALUE;
  private double perSecond;
  private long begunNanos;

  private final int firstNumber;
  private int number;
  private int acknowledged;
  private final LongStream.Builder ids = LongStream.builder();
  private Samples tookNanos = new Samples();
  private final List<String> sampleIds = new ArrayList<>();
  private @Nullable String firstFailure;

  /**
   * Creates submits to a queue.
   *
   * @param batch the tasks per request; with 1, the endpoint for a single task is called
   * @param firstNumber the number of the first task
   * @param dueMillis returns the due time of a task, given its number; null for a time after the end of the measurement
   */
  Submits(Target target, String queue, int batch, int firstNumber, @Nullable IntToLongFunction dueMillis) {
    this.target = target;
    this.queue = queue;
    this.batch = batch;
    this.firstNumber = firstNumber;
    this.dueMillis = dueMillis == null ? any -> 0 : dueMillis;
    number = firstNumber;
    form = dueMillis == null ? TaskText.laterForm() : TaskText.dueForm();
    itemLength = form.bytes().length + (batch > 1 ? 1 : 0);
    blank = blank(batch);
  }

  private Target.Blank blank(int items) {
    Target.Blank made = batch == 1
        ? target.blank("/v1/queues/" + queue + "/tasks", "application/json", itemLength)
        : target.blank("/v1/queues/" + queue + "/tasks:batch", "application/x-ndjson", items * itemLength);
    for (int i = 0; i < items; i++) {
      int at = made.bodyAt() + i * itemLength;
      System.arraycopy(form.bytes(), 0, made.bytes(), at, form.bytes().length);
      if (batch > 1) {
        made.bytes()[at + form.bytes().length] = '\n';
      }
    }
    return made;
  }

  /** Ends the submits after {@code count} tasks of all runs together. */
  Submits untilNumber(int count) {
    endNumber = firstNumber + count;
    return this;
  }

  /** Sets the rate of submits, in tasks per second. */
  Submits atRate(double tasksPerSecond) {
    perSecond = tasksPerSecond;
    return this;
  }

  /**
   * Submits over the connections of a load until the time or the number of tasks is reached.
   *
   * @param time the duration, or null to end only at the number of tasks
   * @param limit the longest time until the last response, from the end of {@code time}, or from the beginning if
   *     {@code time} is null. After this time the run fails
   * @return the time from the first request to the last response, in nanoseconds
   */
  long run(Load load, @Nullable Duration time, Duration limit) {
    begunNanos = System.nanoTime();
    endNanos = time == null ? Long.MAX_VALUE : begunNanos + time.toNanos();
    return load.run(this, time == null ? limit : limit.plus(time));
  }

  @Override
  public long waitNanos(long nowNanos) {
    if (number >= endNumber || (endNanos != Long.MAX_VALUE && nowNanos - endNanos >= 0)) {
      return NEVER;
    }
    if (perSecond == 0) {
      return 0;
    }
    long nextNanos = begunNanos + (long) ((number - firstNumber) / perSecond * 1e9);
    return Math.max(0, nextNanos - nowNanos);
  }

  @Override
  public Load.Request next() {
    int items = Math.min(batch, endNumber - number);
    Target.Blank from = items == batch ? blank : blank(items);
    byte[] bytes = from.bytes().clone();
    int first = number;
    for (int i = 0; i < items; i++) {
      form.fill(bytes, from.bodyAt() + i * itemLength, number, dueMillis.applyAsLong(number));
      number++;
    }
    return new Load.Request(bytes, first);
  }

  @Override
  public void answered(Load.Request request, Load.Answer answer) {
    tookNanos.add(answer.tookNanos());
    if (answer.status() != (batch == 1 ? CREATED : DONE)) {
      failed("status " + answer.status() + ": " + shown(answer));
      return;
    }
    byte[] bytes = answer.bytes();
    int before = acknowledged;
    for (int at = answer.bodyFrom(); at < answer.bodyTo(); at = lineEnd(bytes, at, answer.bodyTo())) {
      if (HttpText.count(bytes, at, Math.min(at + ID.length, answer.bodyTo()), ID) == 1) {
        acknowledge(bytes, at + ID.length);
      }
    }
    if (acknowledged == before || (batch > 1 && acknowledged < before + batch && number < endNumber)) {
      failed("a response without all ids: " + shown(answer));
    }
  }

  private static int lineEnd(byte[] bytes, int from, int to) {
    int at = from;
    while (at < to && bytes[at] != '\n') {
      at++;
    }
    return at + 1;
  }

  private void acknowledge(byte[] bytes, int idAt) {
    long hash = 0;
    for (int i = idAt; i < idAt + ID_LENGTH; i++) {
      hash = hash * 31 + bytes[i];
    }
    ids.add(hash);
    if (acknowledged++ % SAMPLE_EVERY == 0) {
      sampleIds.add(new String(bytes, idAt, ID_LENGTH, US_ASCII));
    }
  }

  private void failed(String what) {
    if (firstFailure == null) {
      firstFailure = what;
    }
  }

  private static String shown(Load.Answer answer) {
    int length = Math.min(MAX_SHOWN, answer.bodyTo() - answer.bodyFrom());
    return new String(answer.bytes(), answer.bodyFrom(), length, UTF_8);
  }

  int acknowledged() {
    return acknowledged;
  }

  int submitted() {
    return number - firstNumber;
  }

  /** Returns the durations of the requests since the last call of this method, in nanoseconds. */
  Samples takeTookNanos() {
    Samples taken = tookNanos;
    tookNanos = new Samples();
    return taken;
  }

  /** Checks that all tasks were acknowledged, with ids that all differ. */
  Submits proveAcknowledged(Report report) {
    String failure = firstFailure;
    report.checkEqual("acknowledged", submitted(), acknowledged)
        .checkEqual("ids that differ", acknowledged, distinctIds());
    if (failure != null) {
      report.check("requests failed; the first: " + failure, false);
    }
    return this;
  }

  /** Returns the number of different ids that were acknowledged, and ends the collection of ids. */
  private int distinctIds() {
    long[] sorted = ids.build().sorted().toArray();
    int distinct = 0;
    for (int i = 0; i < sorted.length; i++) {
      distinct += i == 0 || sorted[i] != sorted[i - 1] ? 1 : 0;
    }
    return distinct;
  }

  /** Checks that the server kept all tasks: compares its count, and reads a sample of the tasks. */
  void proveKept(Report report) {
    report.checkEqual("waiting in the queue " + queue, acknowledged,
        target.awaitCount(queue, "delayed", acknowledged));
    int found = 0;
    for (String id : sampleIds) {
      found += target.client().getTask(id).queue().equals(queue) ? 1 : 0;
    }
    report.checkEqual("samples looked up by id", sampleIds.size(), found);
  }
}
