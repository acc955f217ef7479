package io.foliot.bench.store;

import io.foliot.core.SystemClock;
import io.foliot.core.store.TaskStore;
import io.foliot.store.rocksdb.RocksDbOptions;
import io.foliot.store.rocksdb.RocksDbStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** RocksDB in this process, in a new folder for each round. */
final class RocksSite implements Site {
  private @Nullable Path folder;

  @Override
  public TaskStore openStore() throws IOException {
    delete();
    Path fresh = Files.createTempDirectory("foliot-bench");
    folder = fresh;
    return RocksDbStore.open(fresh, RocksDbOptions.DEFAULT, new SystemClock());
  }

  @Override
  public void settle() {}

  @Override
  public String describe() {
    return "RocksDB, each commit synced";
  }

  private void delete() {
    Path last = folder;
    folder = null;
    if (last != null) {
      try (Stream<Path> files = Files.walk(last)) {
        files.sorted(Comparator.reverseOrder()).forEach(RocksSite::delete);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static void delete(Path file) {
    try {
      Files.delete(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    delete();
  }
}
