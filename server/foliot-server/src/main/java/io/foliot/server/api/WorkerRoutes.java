package io.foliot.server.api;

import io.foliot.api.Limits;
import io.foliot.core.Scheduler;
import io.foliot.core.coordination.Fleet;
import io.foliot.server.security.Caller;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** The calls about the workers of the cluster. */
final class WorkerRoutes {
  /** Estimated bytes of one worker in the answer. */
  private static final int ITEM_BYTES = 320;

  private final Scheduler scheduler;
  private final ApiLimits limits;
  private final SchedulerBridge calls;

  WorkerRoutes(Scheduler scheduler, ApiLimits limits, SchedulerBridge calls) {
    this.scheduler = scheduler;
    this.limits = limits;
    this.calls = calls;
  }

  /**
   * Lists the workers of the queues that the caller sees. A worker that is gone has no queues. Such a worker is listed
   * only if the caller sees all queues and the parameter {@code gone} is true.
   */
  Reply list(Request request) {
    boolean withGone = truth(request, "gone");
    List<Fleet.Seat> seen = seen(scheduler.fleet(), request.caller()).seats().stream()
        .filter(seat -> (seat.isLive() || withGone) && !seat.worker().isEmpty()).toList();
    return Reply.json(200, 64 + seen.size() * ITEM_BYTES, json -> {
      json.writeStartObject();
      json.writeArrayPropertyStart("workers");
      seen.forEach(seat -> write(json, seat));
      json.writeEndArray();
      json.writeEndObject();
    });
  }

  private static boolean truth(Request request, String parameter) {
    String text = request.parameter(parameter);
    if (text != null && !text.equals("true") && !text.equals("false")) {
      throw JobRoutes.invalidParameter(parameter, "true or false", text);
    }
    return "true".equals(text);
  }

  Reply enable(Request request) {
    return setEnabled(request, true);
  }

  Reply disable(Request request) {
    return setEnabled(request, false);
  }

  private Reply setEnabled(Request request, boolean isEnabled) {
    request.noBody(limits.bodyBytes());
    String worker = request.variable("worker");
    if (!calls.write(scheduler.enableWorker(worker, isEnabled))) {
      throw unknown(worker);
    }
    // The state is not taken from the seat: the change is in the store, but this node may not have read it yet.
    Fleet.Seat seat = scheduler.fleet().seats().stream()
        .filter(each -> each.isLive() && each.worker().equals(worker)).findFirst()
        .map(each -> seen(each, request.caller())).orElse(null);
    return Reply.json(200, json -> write(json, worker, seat, isEnabled ? "LIVE" : "DISABLED"));
  }

  private static Problem unknown(String worker) {
    String shown = JsonIn.shown(worker);
    return new Problem(ProblemKind.UNKNOWN_WORKER, "no live worker has the name " + shown + "; GET /v1/workers lists"
        + " those that are known. A worker is known some seconds after its first claim with that name in the field"
        + " \"worker\"").with("worker", shown);
  }

  private static void write(JsonGenerator json, Fleet.Seat seat) {
    write(json, seat.worker(), seat, !seat.isLive() ? "GONE" : seat.isEnabled() ? "LIVE" : "DISABLED");
  }

  /**
   * Writes a worker.
   *
   * @param seat the worker's seat, or null if this node has not read it yet
   */
  private static void write(JsonGenerator json, String worker, Fleet.@Nullable Seat seat, String state) {
    json.writeStartObject();
    TaskJson.text(json, "worker", worker);
    json.writeStringProperty("state", state);
    if (seat != null) {
      json.writeNumberProperty("seat", seat.place());
      TaskJson.text(json, "zone", seat.zone());
      if (seat.isLive()) {
        TaskJson.text(json, "node", seat.node());
      }
    }
    json.writeArrayPropertyStart("queues");
    if (seat != null) {
      seat.queues().stream().sorted().forEach(json::writeString);
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  /**
   * Returns the fleet as a caller sees it: without queues that the caller does not see. A caller that sees only some
   * queues gets an empty name for each worker that takes tasks of none of these queues. The queues of a worker that is
   * gone are not known.
   */
  static Fleet seen(Fleet fleet, Caller caller) {
    return new Fleet(fleet.seats().stream().map(seat -> seen(seat, caller)).toList(), fleet.zones());
  }

  private static Fleet.Seat seen(Fleet.Seat seat, Caller caller) {
    Set<String> queues = seat.queues().stream()
        .filter(queue -> !queue.startsWith(Limits.INTERNAL_QUEUES) && caller.sees(queue)).collect(Collectors.toSet());
    String worker = caller.seesAll() || !queues.isEmpty() ? seat.worker() : "";
    // The owner of the worker is not shown.
    return new Fleet.Seat(seat.number(), worker, seat.zone(), queues, seat.node(), seat.isLive(), seat.isEnabled());
  }
}
