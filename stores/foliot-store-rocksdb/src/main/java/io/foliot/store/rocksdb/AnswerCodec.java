package io.foliot.store.rocksdb;

import io.foliot.core.TaskId;
import io.foliot.core.TaskState;
import io.foliot.core.store.RecordTable.Answered;
import io.foliot.core.store.SubmitResult;
import java.util.zip.CRC32C;

/** Answers to requests with an idempotency key, as bytes. */
final class AnswerCodec {
  private static final int VERSION = 1;
  private static final int SUM_BYTES = 4;

  private AnswerCodec() {}

  static Bytes encode(Answered answered, Bytes out) {
    SubmitResult result = answered.result();
    int start = out.length();
    out.u8(VERSION).u64(answered.digest()).u64(answered.dropAt()).text(result.kind().name());
    Layout.id(out, result.id()).u64(result.generation()).u64(result.dueAt()).text(result.state().name());
    out.u8(result.indexed() ? 1 : 0);
    return out.u32(sum(out.array(), start, out.length() - start));
  }

  static Answered decode(byte[] value) {
    int body = value.length - SUM_BYTES;
    if (body < 1 || BytesReader.u32(value, body) != sum(value, 0, body) || value[0] != VERSION) {
      throw new DamagedException("the answer to a request does not match its checksum: bytes=" + value.length, null);
    }
    BytesReader in = new BytesReader(value, 1, body - 1);
    long digest = in.u64();
    long dropAt = in.u64();
    SubmitResult.Kind kind = SubmitResult.Kind.valueOf(in.text());
    SubmitResult result = new SubmitResult(kind, new TaskId(in.u64(), in.u64()), in.u64(), in.u64(),
        TaskState.valueOf(in.text()), in.u8() == 1);
    return new Answered(digest, result, dropAt);
  }

  private static int sum(byte[] bytes, int from, int count) {
    CRC32C sum = new CRC32C();
    sum.update(bytes, from, count);
    return (int) sum.getValue();
  }
}
