package io.foliot;

import io.foliot.api.Body;
import io.foliot.api.OnConflict;
import io.foliot.core.Submission;
import java.io.IOException;
import java.sql.Connection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A builder that submits its task to a backend. */
final class DefaultTaskBuilder<T> implements TaskBuilder<T> {
  private final Backend backend;
  private final PayloadCodec<T> codec;
  private final Submission.Builder submission;
  private final Map<String, String> headers = new HashMap<>();
  private Backend.@Nullable InTransaction transaction;

  DefaultTaskBuilder(Backend backend, PayloadCodec<T> codec, Submission.Builder submission) {
    this.backend = backend;
    this.codec = codec;
    this.submission = submission;
  }

  @Override
  public TaskBuilder<T> key(String key) {
    submission.key(key);
    return this;
  }

  @Override
  public TaskBuilder<T> onConflict(OnConflict onConflict) {
    submission.onConflict(onConflict);
    return this;
  }

  @Override
  public TaskBuilder<T> header(String name, String value) {
    headers.put(name, value);
    return this;
  }

  @Override
  public TaskBuilder<T> attempts(int attempts) {
    if (attempts < 1) {
      throw new IllegalArgumentException("a task has at least 1 attempt: attempts=" + attempts);
    }
    submission.maxAttempts(attempts);
    return this;
  }

  @Override
  public TaskBuilder<T> idempotencyKey(String name) {
    submission.idempotencyKey(name);
    return this;
  }

  @Override
  public TaskBuilder<T> with(Connection connection) {
    transaction = backend.with(connection);
    return this;
  }

  @Override
  public Submitted submit(T payload) {
    Submission whole = submission(payload);
    return transaction == null ? backend.await(backend.submit(whole)) : transaction.submit(whole);
  }

  @Override
  public CompletableFuture<Submitted> submitAsync(T payload) {
    if (transaction != null) {
      throw new IllegalStateException("a submit in a transaction cannot be asynchronous: call submit");
    }
    return backend.submit(submission(payload));
  }

  private Submission submission(T payload) {
    byte[] bytes;
    try {
      bytes = codec.encode(payload);
    } catch (IOException e) {
      throw new IllegalArgumentException("the payload cannot be encoded: " + e.getMessage(), e);
    }
    return submission.body(new Body(bytes, codec.contentType(), headers)).build();
  }
}
