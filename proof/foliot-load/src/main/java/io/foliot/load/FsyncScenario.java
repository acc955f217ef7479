package io.foliot.load;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;

/** Measures a small append with its sync on the disk of the store. No durable answer can be faster. */
final class FsyncScenario implements Scenario {
  private static final int APPEND_BYTES = 512;
  private static final double SECONDS = 2;

  @Override
  public String name() {
    return "fsync";
  }

  @Override
  public String about() {
    return "appends of 512 bytes, each with its sync (fdatasync), one after another";
  }

  @Override
  public boolean isEmbedded() {
    return true;
  }

  @Override
  public Report run(Bench bench) {
    Path folder = bench.newFolder("fsync");
    Samples nanos = measure(folder, bench.time(SECONDS));
    Report report = new Report().figure("p50", nanos.median() / 1e3, "us")
        .figure("p99", nanos.percentile(99) / 1e3, "us")
        .check("syncs were made: " + nanos.size(), nanos.size() > 0);
    String fileSystem = Machine.fileSystem(folder);
    report.note("file system " + fileSystem
        + (fileSystem.equals("tmpfs") ? ", which is memory and syncs nothing: choose a disk with --data" : ""));
    return report;
  }

  /** Appends and syncs for a time. Returns the duration of each append with its sync, in nanoseconds. */
  static Samples measure(Path folder, Duration time) {
    Samples nanos = new Samples();
    try (FileChannel file = FileChannel.open(folder.resolve("fsync"), StandardOpenOption.CREATE,
        StandardOpenOption.APPEND)) {
      ByteBuffer bytes = ByteBuffer.allocateDirect(APPEND_BYTES);
      long end = System.nanoTime() + time.toNanos();
      for (long now = System.nanoTime(); now - end < 0;) {
        bytes.clear();
        file.write(bytes);
        file.force(false);
        long after = System.nanoTime();
        nanos.add(after - now);
        now = after;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return nanos;
  }
}
