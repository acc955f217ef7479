package io.foliot.store.jdbc;

import io.foliot.core.store.TaskRecord;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The values that a batch of changes writes to rows: one array for each column. */
final class PostgresColumns {
  final long[] wakeAt;
  final long[] dueAt;
  final long[] firstDueAt;
  final long[] changedAt;
  final long[] generation;
  final long[] version;
  final long[] leaseEnd;
  final long[] claimedAt;
  final int[] part;
  final int[] attempt;
  final int[] maxAttempts;
  final int[] state;
  final int[] settledAs;
  final boolean[] cancelRequested;
  final boolean[] outstanding;
  final UuidArray id;
  final UuidArray token;
  final byte[] @Nullable [] body;
  final byte[] @Nullable [] successor;
  final byte[] @Nullable [] attempts;

  PostgresColumns(List<Change> changes) {
    int count = changes.size();
    wakeAt = new long[count];
    dueAt = new long[count];
    firstDueAt = new long[count];
    changedAt = new long[count];
    generation = new long[count];
    version = new long[count];
    leaseEnd = new long[count];
    claimedAt = new long[count];
    part = new int[count];
    attempt = new int[count];
    maxAttempts = new int[count];
    state = new int[count];
    settledAs = new int[count];
    cancelRequested = new boolean[count];
    outstanding = new boolean[count];
    id = new UuidArray(count);
    token = new UuidArray(count);
    body = new byte[count][];
    successor = new byte[count][];
    attempts = new byte[count][];
    for (int i = 0; i < count; i++) {
      set(i, changes.get(i));
    }
    assert Arrays.stream(generation).allMatch(given -> given > 0) : Arrays.toString(generation);
  }

  private void set(int i, Change change) {
    TaskRecord record = change.after();
    wakeAt[i] = record.wakeAt();
    dueAt[i] = record.dueAt();
    firstDueAt[i] = record.firstDueAt();
    changedAt[i] = record.changedAt();
    generation[i] = record.generation();
    version[i] = change.version();
    leaseEnd[i] = record.leaseEnd();
    claimedAt[i] = record.claimedAt();
    part[i] = change.part();
    attempt[i] = record.attempt();
    maxAttempts[i] = record.maxAttempts();
    state[i] = ColumnCodes.of(record.state());
    settledAs[i] = change.settledAs();
    cancelRequested[i] = record.cancelRequested();
    outstanding[i] = record.outstanding();
    id.set(i, record.id());
    token.set(i, record.token());
    body[i] = change.newBody();
    successor[i] = Blobs.successor(record.id(), record.successor());
    attempts[i] = Blobs.history(record);
  }
}
