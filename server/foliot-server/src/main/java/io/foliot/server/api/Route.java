package io.foliot.server.api;

import io.foliot.server.security.Action;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** All routes of the server, each with its method, its path, and the callers that may use it. */
public enum Route {
  /** A page for people. */
  HOME("GET", "/", null, Reach.OPEN),
  /** The description of the API. */
  OPENAPI("GET", "/openapi.json", null, Reach.OPEN),
  /** The health of the process. */
  LIVE("GET", "/health/live", null, Reach.OPEN),
  /** The readiness of the server. */
  READY("GET", "/health/ready", null, Reach.OPEN),
  /** Figures for Prometheus. */
  METRICS("GET", "/metrics", Action.READ, Reach.SERVER),
  /** The cluster, as this node has read it most recently. */
  CLUSTER("GET", "/v1/cluster", Action.READ, Reach.LIST),

  /** All queues. */
  LIST_QUEUES("GET", "/v1/queues", Action.READ, Reach.LIST),
  /** Creates or replaces a queue. */
  PUT_QUEUE("PUT", "/v1/queues/{queue}", Action.ADMIN, Reach.QUEUE),
  /** Changes some settings of a queue. */
  PATCH_QUEUE("PATCH", "/v1/queues/{queue}", Action.ADMIN, Reach.QUEUE),
  /** One queue. */
  GET_QUEUE("GET", "/v1/queues/{queue}", Action.READ, Reach.QUEUE),
  /** Deletes a queue. */
  DELETE_QUEUE("DELETE", "/v1/queues/{queue}", Action.ADMIN, Reach.QUEUE),
  /** Pauses a queue. */
  PAUSE_QUEUE("POST", "/v1/queues/{queue}/pause", Action.ADMIN, Reach.QUEUE),
  /** Resumes a queue. */
  RESUME_QUEUE("POST", "/v1/queues/{queue}/resume", Action.ADMIN, Reach.QUEUE),
  /** Makes failed tasks live again. */
  REDRIVE("POST", "/v1/queues/{queue}/redrive", Action.ADMIN, Reach.QUEUE),

  /** Submits a task. */
  SUBMIT("POST", "/v1/queues/{queue}/tasks", Action.SUBMIT, Reach.QUEUE),
  /** Submits many tasks. */
  SUBMIT_BATCH("POST", "/v1/queues/{queue}/tasks:batch", Action.SUBMIT, Reach.QUEUE),
  /** Cancels the tasks of a queue that pass a filter. */
  CANCEL_TASKS("POST", "/v1/queues/{queue}/tasks:cancel", Action.ADMIN, Reach.QUEUE),
  /** Pages through the tasks of a queue. */
  LIST_TASKS("GET", "/v1/queues/{queue}/tasks", Action.READ, Reach.QUEUE, "state key job limit cursor"),
  /** Creates or resets the task of a key. */
  PUT_KEY("PUT", "/v1/queues/{queue}/keys/{key}", Action.SUBMIT, Reach.QUEUE),
  /** The task of a key. */
  GET_KEY("GET", "/v1/queues/{queue}/keys/{key}", Action.READ, Reach.QUEUE),
  /** Cancels the task of a key. */
  CANCEL_KEY("DELETE", "/v1/queues/{queue}/keys/{key}", Action.SUBMIT, Reach.QUEUE),
  /** Resets the tasks of many keys to a new due time. */
  TOUCH("POST", "/v1/queues/{queue}/keys:touch", Action.SUBMIT, Reach.QUEUE),

  /** A task. */
  GET_TASK("GET", "/v1/tasks/{id}", Action.READ, Reach.TASK),
  /** Returns why a task has not fired. */
  EXPLAIN("GET", "/v1/tasks/{id}/explain", Action.READ, Reach.TASK),
  /** Cancels a task. */
  CANCEL_TASK("DELETE", "/v1/tasks/{id}", Action.SUBMIT, Reach.TASK),
  /** Makes a task due now. */
  RUN_NOW("POST", "/v1/tasks/{id}/run", Action.SUBMIT, Reach.TASK),

  /** Claims tasks for a worker. */
  CLAIM("POST", "/v1/queues/{queue}/claims", Action.CONSUME, Reach.QUEUE),
  /** Reports success. */
  ACK("POST", "/v1/tasks/{id}/ack", Action.CONSUME, Reach.TASK),
  /** Reports failure. */
  NACK("POST", "/v1/tasks/{id}/nack", Action.CONSUME, Reach.TASK),
  /** Extends a lease. */
  EXTEND("POST", "/v1/tasks/{id}/extend", Action.CONSUME, Reach.TASK),

  /** Pages through the jobs. */
  LIST_JOBS("GET", "/v1/jobs", Action.READ, Reach.LIST, "queue state name limit cursor"),
  /** Creates or replaces many jobs. */
  PUT_JOBS("POST", "/v1/jobs:batch", Action.SUBMIT, Reach.LIST),
  /** Creates or replaces a job. */
  PUT_JOB("PUT", "/v1/jobs/{job}", Action.SUBMIT, Reach.JOB, "move"),
  /** A job. */
  GET_JOB("GET", "/v1/jobs/{job}", Action.READ, Reach.JOB),
  /** Deletes a job. */
  DELETE_JOB("DELETE", "/v1/jobs/{job}", Action.SUBMIT, Reach.JOB, "runs"),
  /** Changes some settings of a job. */
  PATCH_JOB("PATCH", "/v1/jobs/{job}", Action.SUBMIT, Reach.JOB),
  /** Creates or changes a job that is defined in code. */
  DECLARE_JOB("POST", "/v1/jobs/{job}/declare", Action.SUBMIT, Reach.JOB),
  /** Pauses a job. */
  PAUSE_JOB("POST", "/v1/jobs/{job}/pause", Action.SUBMIT, Reach.JOB),
  /** Resumes a job. */
  RESUME_JOB("POST", "/v1/jobs/{job}/resume", Action.SUBMIT, Reach.JOB), REWIND_JOB("POST", "/v1/jobs/{job}/rewind",
      Action.SUBMIT, Reach.JOB),
  /** Requests a run now. */
  TRIGGER_JOB("POST", "/v1/jobs/{job}/trigger", Action.SUBMIT, Reach.JOB),
  /** Requests the runs of past times. */
  BACKFILL_JOB("POST", "/v1/jobs/{job}/backfill", Action.SUBMIT, Reach.JOB),
  /** The next times of a job. */
  NEXT_TIMES("GET", "/v1/jobs/{job}/next", Action.READ, Reach.JOB, "count"),
  /** Returns why a job does not run. */
  EXPLAIN_JOB("GET", "/v1/jobs/{job}/explain", Action.READ, Reach.JOB),
  /** The runs of a job. */
  LIST_RUNS("GET", "/v1/jobs/{job}/runs", Action.READ, Reach.JOB, "result limit"),
  /** The runs of one scheduled time, with their tasks. */
  GET_RUN("GET", "/v1/jobs/{job}/runs/{time}", Action.READ, Reach.JOB, "failed limit cursor"),
  /** Stops the runs of one scheduled time. */
  STOP_RUN("POST", "/v1/jobs/{job}/runs/{time}/stop", Action.SUBMIT, Reach.JOB),
  /** Runs a failed shard of a run again. */
  REDRIVE_RUN("POST", "/v1/jobs/{job}/runs/{time}/redrive", Action.SUBMIT, Reach.JOB),
  /** The logs of a run's tasks. */
  LOG("GET", "/v1/jobs/{job}/log", Action.READ, Reach.JOB, "time limit"),
  /** The next times of a schedule. */
  PREVIEW("POST", "/v1/schedules:preview", Action.READ, Reach.LIST, "count"),
  /** All calendars. */
  LIST_CALENDARS("GET", "/v1/calendars", Action.READ, Reach.LIST),
  /** Creates or replaces a calendar. */
  PUT_CALENDAR("PUT", "/v1/calendars/{name}", Action.ADMIN, Reach.SERVER),
  /** A calendar. */
  GET_CALENDAR("GET", "/v1/calendars/{name}", Action.READ, Reach.LIST),
  /** Deletes a calendar. */
  DELETE_CALENDAR("DELETE", "/v1/calendars/{name}", Action.ADMIN, Reach.SERVER),

  /** The workers of the cluster. */
  LIST_WORKERS("GET", "/v1/workers", Action.READ, Reach.LIST, "gone"),
  /** Lets a worker receive tasks again. */
  ENABLE_WORKER("POST", "/v1/workers/{worker}/enable", Action.ADMIN, Reach.SERVER),
  /** Ensures that a worker receives no more tasks. */
  DISABLE_WORKER("POST", "/v1/workers/{worker}/disable", Action.ADMIN, Reach.SERVER),

  /** All API keys. */
  LIST_KEYS("GET", "/v1/keys", Action.ADMIN, Reach.SERVER),
  /** Makes an API key. */
  CREATE_KEY("POST", "/v1/keys", Action.ADMIN, Reach.SERVER),
  /** Removes an API key. */
  DELETE_KEY("DELETE", "/v1/keys/{id}", Action.ADMIN, Reach.SERVER),
  /** Writes a backup. */
  BACKUP("POST", "/v1/backups", Action.ADMIN, Reach.SERVER);

  /** The queues that the caller's key must cover. */
  enum Reach {
    /** The route needs no key, because the answer is the same for every caller. */
    OPEN,
    /** The handler omits or refuses each item of a queue that the key does not cover. */
    LIST,
    /** The queue in the path. */
    QUEUE,
    /** The queue of the task in the path. */
    TASK,
    /** The queue of the job in the path, if there is such a job. The handler reaches only jobs of covered queues. */
    JOB,
    /** All queues. */
    SERVER
  }

  private final String method;
  private final String path;
  private final @Nullable Action action;
  private final Reach reach;
  private final String parameters;

  Route(String method, String path, @Nullable Action action, Reach reach) {
    this(method, path, action, reach, "");
  }

  Route(String method, String path, @Nullable Action action, Reach reach, String parameters) {
    if ((action == null) != (reach == Reach.OPEN)) {
      throw new IllegalStateException("an open route must have no action, and any other route needs one: path=" + path);
    }
    this.method = method;
    this.path = path;
    this.action = action;
    this.reach = reach;
    this.parameters = parameters;
  }

  /** Returns the method: GET, PUT, PATCH, POST or DELETE. */
  public String method() {
    return method;
  }

  /** Returns the path, with variables in braces. */
  public String path() {
    return path;
  }

  /** Returns the action that the caller's key must allow, or null if no key is needed. */
  public @Nullable Action action() {
    return action;
  }

  Reach reach() {
    return reach;
  }

  /** Returns the names of the query parameters of this route; empty if it has none. */
  List<String> parameters() {
    return parameters.isEmpty() ? List.of() : List.of(parameters.split(" "));
  }

  /**
   * Returns whether the audit log records the calls of this route: changes that need the action admin, and changes of
   * jobs, which decide what runs from then on. It does not record single tasks, of which programs submit and cancel
   * thousands a second.
   */
  boolean isAudited() {
    return !method.equals("GET") && (action == Action.ADMIN || path.startsWith("/v1/jobs"));
  }
}
