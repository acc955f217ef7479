package io.foliot.server.api;

import static java.util.Objects.requireNonNull;

import io.foliot.api.FieldType;
import io.foliot.api.Limits;
import io.foliot.core.Scheduler;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.TimeSource;
import io.foliot.core.store.TaskRecord;
import io.foliot.jobs.Jobs;
import io.foliot.server.security.Action;
import io.foliot.server.security.AuditLog;
import io.foliot.server.security.Caller;
import io.foliot.server.security.Gate;
import io.foliot.server.security.KeyRing;
import io.foliot.server.text.Nearest;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;

/**
 * The HTTP API without the web server. For each request, the API finds the route and the caller, and checks whether the
 * caller may use the route; only then does a handler run. An unknown caller gets the same answer for all paths, except
 * for those of open routes and those that cannot be decoded. Safe for use by any thread; a call blocks until the
 * scheduler has answered or the time limit of the call is over.
 */
public final class Api implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Api.class);

  private static final String REFUSED = "refused: ";

  private final RouteTree tree = new RouteTree();
  private final Map<Route, Function<Request, Reply>> handlers = new EnumMap<>(Route.class);
  private final Scheduler scheduler;
  private final TimeSource clock;
  private final Gate gate;
  private final SchedulerBridge calls;
  private final AuditLog audit = new AuditLog();
  private final ServerRoutes server;
  // leaving before draining
  private volatile boolean leaving;
  private volatile boolean draining;

  /** All that the API depends on. */
  public record Parts(Scheduler scheduler, Jobs jobs, TimeSource clock, RandomGenerator random, Gate gate, KeyRing keys,
      ApiLimits limits, Cursors cursors, ServerInfo info) {}

  /**
   * Creates the API.
   *
   * @throws IllegalStateException if a route has no handler
   */
  public Api(Parts parts) {
    scheduler = parts.scheduler;
    clock = parts.clock;
    gate = parts.gate;
    calls = new SchedulerBridge(parts.limits.callTimeout());
    addQueueRoutes(new QueueRoutes(scheduler, parts.limits, calls));
    addTaskRoutes(new TaskRoutes(scheduler, clock, parts.limits, calls, parts.cursors));
    handlers.put(Route.CANCEL_TASKS, new BulkCancelRoute(scheduler, clock, parts.limits, calls, parts.cursors)::handle);
    handlers.put(Route.SUBMIT_BATCH, new BatchRoute(scheduler, clock, parts.limits, calls)::handle);
    addClaimRoutes(new ClaimRoutes(scheduler, parts.limits, calls));
    JobRoutes jobs = new JobRoutes(scheduler, parts.jobs, clock, parts.limits, calls, parts.cursors);
    addJobRoutes(jobs);
    addRunRoutes(new RunRoutes(jobs, clock, parts.limits));
    addCalendarRoutes(new CalendarRoutes(parts.jobs, parts.limits, calls));
    addWorkerRoutes(new WorkerRoutes(scheduler, parts.limits, calls));
    addKeyRoutes(new KeyRoutes(parts.keys, gate, clock, parts.random, parts.limits, calls));
    server = new ServerRoutes(scheduler, parts.info, parts.limits, () -> leaving);
    addServerRoutes(server);
    Set<Route> missing = EnumSet.allOf(Route.class);
    missing.removeAll(handlers.keySet());
    if (!missing.isEmpty()) {
      throw new IllegalStateException("routes have no handler: missing=" + missing);
    }
  }

  private void addQueueRoutes(QueueRoutes queues) {
    handlers.put(Route.LIST_QUEUES, queues::list);
    handlers.put(Route.PUT_QUEUE, queues::put);
    handlers.put(Route.PATCH_QUEUE, queues::patch);
    handlers.put(Route.GET_QUEUE, queues::get);
    handlers.put(Route.DELETE_QUEUE, queues::delete);
    handlers.put(Route.PAUSE_QUEUE, queues::pause);
    handlers.put(Route.RESUME_QUEUE, queues::resume);
    handlers.put(Route.REDRIVE, queues::redrive);
  }

  private void addTaskRoutes(TaskRoutes tasks) {
    handlers.put(Route.SUBMIT, tasks::submit);
    handlers.put(Route.LIST_TASKS, tasks::list);
    handlers.put(Route.PUT_KEY, tasks::putKey);
    handlers.put(Route.GET_KEY, tasks::getKey);
    handlers.put(Route.CANCEL_KEY, tasks::cancelKey);
    handlers.put(Route.TOUCH, tasks::touch);
    handlers.put(Route.GET_TASK, tasks::getTask);
    handlers.put(Route.EXPLAIN, tasks::explain);
    handlers.put(Route.CANCEL_TASK, tasks::cancelTask);
    handlers.put(Route.RUN_NOW, tasks::runNow);
  }

  private void addClaimRoutes(ClaimRoutes claims) {
    handlers.put(Route.CLAIM, claims::claim);
    handlers.put(Route.ACK, claims::ack);
    handlers.put(Route.NACK, claims::nack);
    handlers.put(Route.EXTEND, claims::extend);
  }

  private void addJobRoutes(JobRoutes routes) {
    handlers.put(Route.LIST_JOBS, routes::list);
    handlers.put(Route.PUT_JOBS, routes::putAll);
    handlers.put(Route.PUT_JOB, routes::put);
    handlers.put(Route.GET_JOB, routes::get);
    handlers.put(Route.DELETE_JOB, routes::delete);
    handlers.put(Route.PATCH_JOB, routes::patch);
    handlers.put(Route.DECLARE_JOB, routes::declare);
    handlers.put(Route.PAUSE_JOB, routes::pause);
    handlers.put(Route.RESUME_JOB, routes::resume);
    handlers.put(Route.REWIND_JOB, routes::rewind);
    handlers.put(Route.TRIGGER_JOB, routes::trigger);
    handlers.put(Route.BACKFILL_JOB, routes::backfill);
    handlers.put(Route.NEXT_TIMES, routes::next);
    handlers.put(Route.EXPLAIN_JOB, routes::explain);
    handlers.put(Route.PREVIEW, routes::preview);
  }

  private void addRunRoutes(RunRoutes runs) {
    handlers.put(Route.LIST_RUNS, runs::list);
    handlers.put(Route.GET_RUN, runs::get);
    handlers.put(Route.STOP_RUN, runs::stop);
    handlers.put(Route.REDRIVE_RUN, runs::redrive);
    handlers.put(Route.LOG, runs::log);
  }

  private void addCalendarRoutes(CalendarRoutes calendars) {
    handlers.put(Route.LIST_CALENDARS, calendars::list);
    handlers.put(Route.PUT_CALENDAR, calendars::put);
    handlers.put(Route.GET_CALENDAR, calendars::get);
    handlers.put(Route.DELETE_CALENDAR, calendars::delete);
  }

  private void addWorkerRoutes(WorkerRoutes workers) {
    handlers.put(Route.LIST_WORKERS, workers::list);
    handlers.put(Route.ENABLE_WORKER, workers::enable);
    handlers.put(Route.DISABLE_WORKER, workers::disable);
  }

  private void addKeyRoutes(KeyRoutes keys) {
    handlers.put(Route.LIST_KEYS, keys::list);
    handlers.put(Route.CREATE_KEY, keys::create);
    handlers.put(Route.DELETE_KEY, keys::delete);
  }

  private void addServerRoutes(ServerRoutes server) {
    handlers.put(Route.HOME, server::home);
    handlers.put(Route.OPENAPI, server::openApi);
    handlers.put(Route.LIVE, server::live);
    handlers.put(Route.READY, server::ready);
    handlers.put(Route.METRICS, server::metrics);
    handlers.put(Route.CLUSTER, server::cluster);
    handlers.put(Route.BACKUP, server::backup);
  }

  /** Stops the thread that ends calls after their time limit. Must not be called while a request waits. */
  @Override
  public void close() {
    calls.close();
  }

  /** Ends readiness. All requests are still served. */
  public void leave() {
    leaving = true;
  }

  /** Returns whether {@link #leave} was called. Each connection should then be closed after its next answer. */
  public boolean isLeaving() {
    return leaving;
  }

  /** Refuses requests from now on, except for those of open routes, such as health. Requests under way continue. */
  public void drain() {
    leaving = true;
    draining = true;
  }

  /** Returns whether {@code /health/ready} was called within this time. */
  public boolean isChecked(Duration within) {
    return server.isChecked(within);
  }

  /** Returns whether {@code /health/ready} returns 200. */
  public boolean isReady() {
    return server.unready().isEmpty();
  }

  /** An answer to a request. The route is null if the request matched none. */
  public record Answer(@Nullable Route route, Reply reply) {}

  /** Answers a request. An exception becomes a problem; only an {@link Error} is thrown. */
  public Answer answer(String method, String path, String remote, Request.Incoming incoming) {
    Route[] found = new Route[1];
    try {
      Reply reply = route(method, path, remote, incoming, found);
      return new Answer(found[0], reply);
    } catch (Problem problem) {
      return new Answer(found[0], problem.reply());
    } catch (JacksonException e) {
      return new Answer(found[0], JsonIn.malformed(e).reply());
    } catch (RuntimeException e) {
      return new Answer(found[0], failed(e, method, path).reply());
    }
  }

  private static Problem failed(RuntimeException e, String method, String path) {
    RuntimeException known = SchedulerBridge.problem(e, true);
    if (known instanceof Problem problem && problem.kind() != ProblemKind.INVALID_REQUEST) {
      return problem;
    }
    log.error("a request failed: method={}, path={}", method, JsonIn.shown(path), e);
    return new Problem(ProblemKind.INTERNAL, "the cause is in the server's log, at " + Instant.now()
        + "; please report it");
  }

  private Reply route(String method, String path, String remote, Request.Incoming incoming, @Nullable Route[] found) {
    RouteTree.Match match = tree.find(path);
    Route route = match == null ? null : match.route(method);
    found[0] = route;
    Caller caller = route != null && route.reach() == Route.Reach.OPEN ? Caller.ANYBODY : caller(incoming, remote);
    if (match == null) {
      String nearest = tree.nearest(path);
      throw new Problem(ProblemKind.UNKNOWN_ROUTE, "there is nothing under " + JsonIn.shown(path)
          + (nearest == null ? "" : "; did you mean " + nearest + "?") + "; GET /openapi.json lists all paths");
    }
    if (route == null) {
      throw new Problem(ProblemKind.METHOD_NOT_ALLOWED, JsonIn.shown(path) + " has the methods " + match.allow())
          .withHeader("Allow", match.allow());
    }
    if (draining && route.reach() != Route.Reach.OPEN) {
      throw new Problem(ProblemKind.NOT_READY, "the server stops; nothing was done, try again in a moment")
          .withHeader("Retry-After", "1");
    }
    if (caller == Caller.OPEN) {
      incoming.belongsToThisMachine();
    } else if (caller != Caller.ANYBODY && !incoming.belongsTo(caller.name())) {
      throw new Problem(ProblemKind.OVERLOADED, "this API key has too many connections for a crowded server"
          + " (limits.connections); nothing was done, try again later").withHeader("Retry-After", "1");
    }
    Request request = new Request(incoming, match.variables(), caller, () -> gate.admits(caller, now()));
    return carryOut(route, request, remote);
  }

  private Reply carryOut(Route route, Request request, String remote) {
    String outcome = "failed";
    try {
      authorize(route, request);
      checkParameters(route, request.parameterNames());
      checkQueueName(route, request);
      Reply reply = requireNonNull(handlers.get(route)).apply(request);
      outcome = "done";
      return reply;
    } catch (Problem problem) {
      outcome = REFUSED + problem.kind().type();
      throw problem;
    } finally {
      if (route.isAudited()) {
        AuditLog.Kind kind = outcome.startsWith(REFUSED)
            ? AuditLog.Kind.REFUSED
            : route.action() == Action.ADMIN ? AuditLog.Kind.ADMINISTRATIVE : AuditLog.Kind.ORDINARY;
        audit.act(kind, request.caller(), remote, route.name(), request.audited(), outcome);
      }
    }
  }

  private Instant now() {
    return Instant.ofEpochMilli(clock.wallMillis());
  }

  private Caller caller(Request.Incoming incoming, String remote) {
    Gate.Verdict verdict = gate.judge(incoming.header("Authorization"), incoming.header("Host"),
        incoming.header("Origin"), now());
    return switch (verdict) {
      case Gate.Verdict.Known(Caller caller) -> caller;
      case Gate.Verdict.Unknown(String reason) -> {
        audit.refused(remote, reason);
        throw new Problem(ProblemKind.UNAUTHORIZED, reason).withHeader("WWW-Authenticate", "Bearer");
      }
      case Gate.Verdict.Foreign(String reason) -> {
        audit.refused(remote, reason);
        throw new Problem(ProblemKind.FOREIGN_HOST, reason);
      }
    };
  }

  private void authorize(Route route, Request request) {
    Caller caller = request.caller();
    Action action = route.action();
    if (action != null && !caller.may(action)) {
      throw forbidden("the key does not allow the action " + FieldType.word(action));
    }
    switch (route.reach()) {
      case OPEN, LIST, JOB -> {
        // An open route needs no check. The handler of a list checks each item, and the handler of a job reaches only
        // the jobs of the caller's queues: the queue of a job may change between a check here and the act.
      }
      case QUEUE -> {
        if (!caller.sees(request.variable("queue"))) {
          throw SchedulerBridge.uncoveredQueue(request.variable("queue"));
        }
      }
      case TASK -> {
        // A worker whose key covers all queues needs no check. The check would only keep the worker away from internal
        // queues. But this call needs a token, and workers get no tokens of internal queues.
        if (!caller.seesAll() || action != Action.CONSUME) {
          authorizeTask(request);
        }
      }
      case SERVER -> {
        if (!caller.seesAll()) {
          throw forbidden("the call needs a key for all queues (*)");
        }
      }
    }
  }

  private static Problem forbidden(String reason) {
    return new Problem(ProblemKind.FORBIDDEN, reason + "; ask the server's administrator for another key");
  }

  // The queue of a task never changes, so the queue read here is still right when the handler acts.
  private void authorizeTask(Request request) {
    TaskId id = TaskRoutes.id(request);
    // Only the queue is kept, so that no payload stays in memory while this thread waits.
    Optional<String> queue = calls.read(scheduler.find(new TaskRef.ById(id)).thenApply(task -> task.map(
        TaskRecord::queue)));
    if (queue.isEmpty() || queue.get().startsWith(Limits.INTERNAL_QUEUES) || !request.caller().sees(queue.get())) {
      throw TaskRoutes.unknownTask(id.toString());
    }
  }

  private static void checkParameters(Route route, Set<String> names) {
    for (String name : names) {
      if (!route.parameters().contains(name)) {
        String hint = route.parameters().isEmpty() ? "it has none" : Nearest.hint(name, route.parameters());
        throw new Problem(ProblemKind.INVALID_PARAMETER, "the call has no query parameter " + JsonIn.shown(name) + ": "
            + hint).with("parameter", JsonIn.shown(name));
      }
    }
  }

  private static void checkQueueName(Route route, Request request) {
    if (route.reach() == Route.Reach.QUEUE) {
      try {
        Limits.ensureQueueName(request.variable("queue"));
      } catch (IllegalArgumentException e) {
        throw new Problem(ProblemKind.INVALID_REQUEST, "queue: " + e.getMessage()).with("field", "queue");
      }
      boolean isInternal = request.variable("queue").startsWith(Limits.INTERNAL_QUEUES);
      if (isInternal && route != Route.PUT_QUEUE) {
        throw SchedulerBridge.unknownQueue(request.variable("queue"));
      }
    }
  }
}
