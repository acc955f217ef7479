package io.foliot.backends;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;

/**
 * A small private disk: ext4 on a loop device over a file. A test can cut its power, and can fill it. Needs root, Linux
 * with loop devices, and the programs named in {@link #NEEDED}.
 *
 * <p>A power loss is an {@code EXT4_IOC_SHUTDOWN} without a flush of the journal: from then on every call fails, and
 * data that was not synced is missing after the next mount. The file under the loop device has the role of the physical
 * medium.
 */
public final class LoopDisk implements AutoCloseable {
  /** Part of the message if root, loop devices or a program is missing. */
  static final String NEEDED = "this test needs root, loop devices, and the programs mkfs.ext4, mount, umount,"
      + " fallocate and perl: run it as root on Linux, for example in a privileged container, with e2fsprogs,"
      + " util-linux and perl installed";

  /** The Perl program that makes an {@code EXT4_IOC_SHUTDOWN} call with {@code EXT4_GOING_FLAGS_NOLOGFLUSH}. */
  private static final String SHUTDOWN = "open(my $disk, '<', $ARGV[0]) or die \"open: $!\"; my $flags = pack('L', 2);"
      + " ioctl($disk, 0x8004587D, $flags) or die \"ioctl: $!\";";

  /**
   * The options of the mount. The journal is committed when a process syncs or when the journal is full. Otherwise it
   * is committed only every 300 s, so that unsynced data stays unsynced.
   */
  private static final String OPTIONS = "loop,commit=300";

  /** Size of the part that {@link #fill} fills block by block, because the reported free space is not exact. */
  private static final long ROUGH_BYTES = 2L << 20;
  private static final int BLOCK_BYTES = 4_096;

  private static final Duration UNMOUNT_BOUND = Duration.ofSeconds(20);

  /** Thrown when such a disk cannot be created on this machine. */
  public static final class UnavailableException extends Exception {
    private static final long serialVersionUID = 1;

    UnavailableException(String message) {
      super(message);
    }
  }

  private final Path image;
  private final Path folder;
  private final Path ballast;
  private final Thread atExit = new Thread(this::close);
  private boolean mounted;

  private LoopDisk(Path image) {
    this.image = image;
    folder = image.resolveSibling(image.getFileName() + "-mount");
    ballast = folder.resolve("ballast");
  }

  /**
   * Creates a disk and mounts it.
   *
   * @param image the file that holds the disk
   * @param bytes the size of the disk
   */
  public static LoopDisk create(Path image, long bytes) throws UnavailableException {
    LoopDisk disk = new LoopDisk(image.toAbsolutePath());
    try {
      Files.createDirectories(disk.folder);
      try (RandomAccessFile file = new RandomAccessFile(disk.image.toFile(), "rw")) {
        file.setLength(bytes);
      }
      Command.attempt("perl", "-e", "exit 0");
      Command.attempt("fallocate", "--version");
      Command.attempt("mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0",
          disk.image.toString());
      disk.mount();
    } catch (IOException e) {
      disk.delete();
      throw new UnavailableException(e.getMessage() + "; " + NEEDED);
    }
    Runtime.getRuntime().addShutdownHook(disk.atExit);
    return disk;
  }

  private void mount() throws IOException {
    Command.attempt("mount", "-o", OPTIONS, image.toString(), folder.toString());
    mounted = true;
  }

  /** Returns the mount point of the disk. */
  public Path folder() {
    return folder;
  }

  /**
   * Cuts the power of the disk. First pause every process that writes to the disk: a sync in progress at this instant
   * may return success although it failed. On Linux 6.18, this happens to about one such sync in fifteen. When real
   * power fails, no process is left to see that result.
   */
  public void powerOff() {
    Command.run("perl", "-e", SHUTDOWN, folder.toString());
  }

  /** Mounts the disk again, as when the power returns. No process may have a file of this disk open. */
  public void remount() {
    unmount();
    try {
      mount();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the free space of the disk in bytes. */
  public long freeBytes() {
    try {
      return Files.getFileStore(folder).getUsableSpace();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Fills the disk except for {@code freeBytes}. */
  public void fillUpTo(long freeBytes) {
    Command.run("fallocate", "--length", Long.toString(freeBytes() - freeBytes), ballast.toString());
  }

  /** Fills the disk to the last block. */
  public void fill() {
    fillUpTo(ROUGH_BYTES);
    ByteBuffer block = ByteBuffer.allocate(BLOCK_BYTES);
    try (FileChannel file = FileChannel.open(ballast, StandardOpenOption.APPEND)) {
      while (true) {
        file.write(block.clear());
      }
    } catch (IOException e) {
      // The disk is full.
    }
  }

  /** Undoes {@link #fillUpTo} and {@link #fill}. */
  public void makeRoom() {
    try {
      Files.delete(ballast);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void unmount() {
    if (!mounted) {
      return;
    }
    // A process that was just killed may still be closing its files.
    Await.until("the disk is unmounted: " + folder, UNMOUNT_BOUND, () -> {
      try {
        Command.attempt("umount", folder.toString());
        return true;
      } catch (IOException e) {
        return false;
      }
    });
    mounted = false;
  }

  private void delete() {
    try {
      Files.deleteIfExists(image);
      Files.deleteIfExists(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public synchronized void close() {
    try {
      unmount();
    } catch (IllegalStateException stillInUse) {
      // The mount disappears once no process uses it.
      Command.run("umount", "--lazy", folder.toString());
      mounted = false;
      throw stillInUse;
    } finally {
      delete();
    }
    if (!Thread.currentThread().equals(atExit)) {
      Runtime.getRuntime().removeShutdownHook(atExit);
    }
  }
}
