package io.foliot.load;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Workers that poll a queue over HTTP, on any free connections. They acknowledge each shard at once, and poll again.
 */
final class Pollers implements Load.Work {
  /** Longest wait of a claim for tasks: the default of the client library's workers for jobs. */
  static final int WAIT_SECONDS = 5;
  private static final int OK = 200;
  /** Maximum number of characters of an error response that are kept. */
  private static final int MAX_SHOWN = 300;
  /** Number of a request that acknowledges a shard; the number of a poll is the number of its worker. */
  private static final int ACK = -1;

  private final Target target;
  private final String queue;
  private final String prefix;

  // used by the thread that runs the load
  private final Deque<Integer> idle = new ArrayDeque<>();
  private final Deque<Load.Request> acks = new ArrayDeque<>();

  // used by any thread
  private final AtomicIntegerArray shards;
  private final AtomicLong polls = new AtomicLong();
  private final AtomicLong acknowledged = new AtomicLong();
  private final AtomicLong lastNanos = new AtomicLong();
  private volatile boolean ended;
  private volatile @Nullable String firstFailure;

  Pollers(Target target, String queue, String prefix, int workers) {
    this.target = target;
    this.queue = queue;
    this.prefix = prefix;
    shards = new AtomicIntegerArray(workers);
    for (int i = 0; i < workers; i++) {
      idle.add(i);
    }
  }

  String name(int worker) {
    return prefix + worker;
  }

  @Override
  public long waitNanos(long nowNanos) {
    if (!acks.isEmpty()) {
      return 0;
    }
    if (ended) {
      return NEVER;
    }
    return idle.isEmpty() ? Long.MAX_VALUE - 1 : 0;
  }

  @Override
  public Load.Request next() {
    Load.Request ack = acks.poll();
    if (ack != null) {
      return ack;
    }
    int worker = idle.remove();
    polls.incrementAndGet();
    return request("/v1/queues/" + queue + "/claims", "{\"max\":16,\"wait\":\"" + WAIT_SECONDS
        + "s\",\"lease\":\"10s\",\"worker\":\"" + name(worker) + "\",\"zone\":\"zone-" + worker % 2 + "\"}", worker);
  }

  private Load.Request request(String path, String body, int number) {
    byte[] content = body.getBytes(US_ASCII);
    Target.Blank blank = target.blank(path, "application/json", content.length);
    System.arraycopy(content, 0, blank.bytes(), blank.bodyAt(), content.length);
    return new Load.Request(blank.bytes(), number);
  }

  @Override
  public void answered(Load.Request request, Load.Answer answer) {
    String body = new String(answer.bytes(), answer.bodyFrom(), answer.bodyTo() - answer.bodyFrom(), UTF_8);
    if (answer.status() != OK) {
      if (firstFailure == null) {
        firstFailure = "status " + answer.status() + ": " + body.substring(0, Math.min(MAX_SHOWN, body.length()));
      }
    } else if (request.number() == ACK) {
      acknowledged.incrementAndGet();
    } else {
      for (int at = body.indexOf("\"id\":\""); at >= 0; at = body.indexOf("\"id\":\"", at + 1)) {
        shards.incrementAndGet(request.number());
        lastNanos.set(System.nanoTime());
        acks.add(request("/v1/tasks/" + text(body, "id", at) + "/ack",
            "{\"token\":\"" + text(body, "token", at) + "\"}", ACK));
      }
    }
    if (request.number() != ACK) {
      idle.add(request.number());
    }
  }

  private static String text(String body, String name, int from) {
    String start = "\"" + name + "\":\"";
    int begin = body.indexOf(start, from) + start.length();
    return body.substring(begin, body.indexOf('"', begin));
  }

  /** Ends the polls. The load ends after the responses to the polls in flight and to the acks of their shards. */
  void end() {
    ended = true;
  }

  long polls() {
    return polls.get();
  }

  long acknowledged() {
    return acknowledged.get();
  }

  /** Returns when the latest response with shards arrived, by {@link System#nanoTime}; 0 if none has arrived. */
  long lastNanos() {
    return lastNanos.get();
  }

  /** Returns the number of workers that have claimed exactly {@code count} shards. */
  long workersWith(int count) {
    long found = 0;
    for (int i = 0; i < shards.length(); i++) {
      found += shards.get(i) == count ? 1 : 0;
    }
    return found;
  }

  /** Returns the status and body of the first response that is not a success, or null if there is none. */
  @Nullable
  String firstFailure() {
    return firstFailure;
  }
}
