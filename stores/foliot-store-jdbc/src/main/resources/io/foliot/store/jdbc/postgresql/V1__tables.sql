-- Live tasks only; tasks that have ended are in foliot_final. Columns of eight bytes come first, because padding would
-- enlarge each row otherwise. part is the slot of an entry in the index, or 65536 + queue number while the task is
-- parked. A touch that does not move the index entry changes due_at, generation, attempt and version. No index has
-- these columns, so such a touch is a HOT update if its page has room.
CREATE TABLE foliot_task (
  wake_at          bigint   NOT NULL,
  due_at           bigint   NOT NULL,
  first_due_at     bigint   NOT NULL,
  created_at       bigint   NOT NULL,
  changed_at       bigint   NOT NULL,
  generation       bigint   NOT NULL,
  version          bigint   NOT NULL,
  lease_end        bigint,
  claimed_at       bigint,
  queue            integer  NOT NULL,
  part             integer  NOT NULL,
  attempt          integer  NOT NULL,
  max_attempts     integer  NOT NULL,
  state            smallint NOT NULL,
  settled_as       smallint,
  cancel_requested boolean  NOT NULL,
  outstanding      boolean  NOT NULL,
  id               uuid     NOT NULL,
  token            uuid,
  key              text COLLATE "C",
  body             bytea    NOT NULL,
  successor        bytea,
  attempts         bytea,
  CONSTRAINT foliot_task_pkey PRIMARY KEY (id)
) WITH (
  -- Leaves room in each page for new versions of its rows.
  fillfactor = 80,
  -- Half of the rows may be replaced within a minute. So vacuum starts after a number of dead rows, not after a share.
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_insert_scale_factor = 0.2,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 1,
  autovacuum_vacuum_cost_limit = 2000
);

CREATE UNIQUE INDEX foliot_task_key ON foliot_task (queue, key) WHERE key IS NOT NULL;
CREATE INDEX foliot_task_wake ON foliot_task (part, wake_at, id) INCLUDE (queue);

-- Tasks that have ended, kept until drop_at. A row is never updated. Expired rows are deleted in the order of drop_at.
-- begun_at is -1 if the task was set aside. If begun_at is a time (not NULL, 0 or -1), columns of this row hold the
-- last attempt, and the column attempts holds the earlier attempts.
CREATE TABLE foliot_final (
  due_at       bigint   NOT NULL,
  first_due_at bigint   NOT NULL,
  created_at   bigint   NOT NULL,
  changed_at   bigint   NOT NULL,
  generation   bigint   NOT NULL,
  drop_at      bigint   NOT NULL,
  lease_end    bigint,
  claimed_at   bigint,
  begun_at     bigint,
  queue        integer  NOT NULL,
  attempt      integer  NOT NULL,
  max_attempts integer  NOT NULL,
  state        smallint NOT NULL,
  settled_as   smallint,
  outstanding  boolean  NOT NULL,
  id           uuid     NOT NULL,
  token        uuid,
  key          text COLLATE "C",
  reason       text     NOT NULL,
  detail       text,
  body         bytea    NOT NULL,
  attempts     bytea,
  CONSTRAINT foliot_final_pkey PRIMARY KEY (id)
) WITH (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 50000,
  autovacuum_vacuum_cost_delay = 1,
  autovacuum_vacuum_cost_limit = 2000
);

CREATE INDEX foliot_final_key ON foliot_final (queue, key, generation) WHERE key IS NOT NULL;
CREATE INDEX foliot_final_drop ON foliot_final (drop_at);

-- Results of requests with an idempotency key, kept until drop_at. The key of a task without a key is empty here.
CREATE TABLE foliot_request (
  digest     bigint   NOT NULL,
  generation bigint   NOT NULL,
  due_at     bigint   NOT NULL,
  drop_at    bigint   NOT NULL,
  queue      integer  NOT NULL,
  kind       smallint NOT NULL,
  state      smallint NOT NULL,
  id         uuid     NOT NULL,
  key        text COLLATE "C" NOT NULL,
  request    text COLLATE "C" NOT NULL,
  CONSTRAINT foliot_request_pkey PRIMARY KEY (queue, key, request)
) WITH (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 50000
);

CREATE INDEX foliot_request_drop ON foliot_request (drop_at);

CREATE TABLE foliot_queue (
  number integer GENERATED ALWAYS AS IDENTITY,
  name   text COLLATE "C" NOT NULL,
  CONSTRAINT foliot_queue_pkey PRIMARY KEY (name)
);

CREATE TABLE foliot_document (
  version bigint NOT NULL,
  kind    text COLLATE "C" NOT NULL,
  name    text COLLATE "C" NOT NULL,
  content bytea  NOT NULL,
  CONSTRAINT foliot_document_pkey PRIMARY KEY (kind, name)
);

-- One row. Every generation assigned from now on is at least floor.
CREATE TABLE foliot_clock (
  floor bigint NOT NULL
) WITH (fillfactor = 10);

INSERT INTO foliot_clock (floor) VALUES (0);

CREATE TABLE foliot_meta (
  name  text COLLATE "C" NOT NULL,
  value text NOT NULL,
  CONSTRAINT foliot_meta_pkey PRIMARY KEY (name)
);

INSERT INTO foliot_meta (name, value) VALUES ('schema', '1');
