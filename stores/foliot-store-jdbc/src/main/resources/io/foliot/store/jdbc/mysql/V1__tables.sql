-- Live tasks only; tasks that have ended are in foliot_final. Texts are bytes of UTF-8, so no collation equates two
-- different keys. part is the slot of an entry in the index, or 65536 + queue number while the task is parked.
-- A touch that does not move the index entry changes due_at, generation, attempt and version, which no index has.
CREATE TABLE foliot_task (
  id               BINARY(16)     NOT NULL,
  wake_at          BIGINT         NOT NULL,
  due_at           BIGINT         NOT NULL,
  first_due_at     BIGINT         NOT NULL,
  created_at       BIGINT         NOT NULL,
  changed_at       BIGINT         NOT NULL,
  generation       BIGINT         NOT NULL,
  version          BIGINT         NOT NULL,
  lease_end        BIGINT,
  claimed_at       BIGINT,
  queue            INT            NOT NULL,
  part             INT            NOT NULL,
  attempt          INT            NOT NULL,
  max_attempts     INT            NOT NULL,
  state            TINYINT        NOT NULL,
  settled_as       TINYINT,
  cancel_requested BOOLEAN        NOT NULL,
  outstanding      BOOLEAN        NOT NULL,
  token            BINARY(16),
  `key`            VARBINARY(256),
  body             MEDIUMBLOB     NOT NULL,
  successor        MEDIUMBLOB,
  attempts         MEDIUMBLOB,
  PRIMARY KEY (id),
  UNIQUE KEY foliot_task_key (queue, `key`),
  KEY foliot_task_wake (part, wake_at, id, queue)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

-- Tasks that have ended, kept until drop_at. A row is never updated. Expired rows are deleted in the order of drop_at.
-- begun_at is -1 if the task was set aside. If begun_at is a time (not NULL, 0 or -1), columns of this row hold the
-- last attempt, and the column attempts holds the earlier attempts.
CREATE TABLE foliot_final (
  id           BINARY(16)     NOT NULL,
  due_at       BIGINT         NOT NULL,
  first_due_at BIGINT         NOT NULL,
  created_at   BIGINT         NOT NULL,
  changed_at   BIGINT         NOT NULL,
  generation   BIGINT         NOT NULL,
  drop_at      BIGINT         NOT NULL,
  lease_end    BIGINT,
  claimed_at   BIGINT,
  begun_at     BIGINT,
  queue        INT            NOT NULL,
  attempt      INT            NOT NULL,
  max_attempts INT            NOT NULL,
  state        TINYINT        NOT NULL,
  settled_as   TINYINT,
  outstanding  BOOLEAN        NOT NULL,
  token        BINARY(16),
  `key`        VARBINARY(256),
  reason       VARBINARY(1024) NOT NULL,
  detail       VARBINARY(1024),
  body         MEDIUMBLOB     NOT NULL,
  attempts     MEDIUMBLOB,
  PRIMARY KEY (id),
  KEY foliot_final_key (queue, `key`, generation),
  KEY foliot_final_drop (drop_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

-- Results of requests with an idempotency key, kept until drop_at. The key of a task without a key is empty here.
CREATE TABLE foliot_request (
  queue      INT            NOT NULL,
  `key`      VARBINARY(256) NOT NULL,
  request    VARBINARY(256) NOT NULL,
  digest     BIGINT         NOT NULL,
  generation BIGINT         NOT NULL,
  due_at     BIGINT         NOT NULL,
  drop_at    BIGINT         NOT NULL,
  kind       TINYINT        NOT NULL,
  state      TINYINT        NOT NULL,
  id         BINARY(16)     NOT NULL,
  PRIMARY KEY (queue, `key`, request),
  KEY foliot_request_drop (drop_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

CREATE TABLE foliot_queue (
  number INT            NOT NULL AUTO_INCREMENT,
  name   VARBINARY(512) NOT NULL,
  PRIMARY KEY (number),
  UNIQUE KEY foliot_queue_name (name)
) ENGINE = InnoDB;

CREATE TABLE foliot_document (
  kind    VARBINARY(64)  NOT NULL,
  name    VARBINARY(512) NOT NULL,
  version BIGINT         NOT NULL,
  content LONGBLOB       NOT NULL,
  PRIMARY KEY (kind, name)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC;

-- One row. Every generation assigned from now on is at least floor.
CREATE TABLE foliot_clock (
  one   INT    NOT NULL,
  floor BIGINT NOT NULL,
  PRIMARY KEY (one)
) ENGINE = InnoDB;

INSERT INTO foliot_clock (one, floor) VALUES (1, 0);

CREATE TABLE foliot_meta (
  name  VARCHAR(64)  NOT NULL,
  value VARCHAR(256) NOT NULL,
  PRIMARY KEY (name)
) ENGINE = InnoDB;

INSERT INTO foliot_meta (name, value) VALUES ('schema', '1');
