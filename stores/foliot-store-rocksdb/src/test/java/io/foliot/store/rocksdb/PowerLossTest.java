package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.TaskId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Power loss: the store on an ext4 of its own that is shut down beneath it (EXT4_IOC_SHUTDOWN without a flush of the
 * journal), so that whatever was not synced is gone. Every task that was answered is there afterwards, and the store opens
 * by itself.
 *
 * <p>Needs root, {@code mkfs.ext4}, a loop device and {@code python3} for the ioctl. Where one is missing the test says so
 * on the console and proves nothing.
 */
@SuppressWarnings("SystemOut") // what was not proved must be seen
final class PowerLossTest {
  private static final int LOSSES = 4;
  private static final String SHUTDOWN = """
      import fcntl, os, struct, sys
      fd = os.open(sys.argv[1], os.O_RDONLY)
      fcntl.ioctl(fd, 0x8004587D, struct.pack("I", 2))
      """;

  @TempDir
  Path temporary;

  private static int run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    if (process.exitValue() != 0) {
      System.out.println("PowerLossTest: " + List.of(command) + " ended with " + process.exitValue() + ": " + said);
    }
    return process.exitValue();
  }

  @Test
  void everyAnsweredTaskIsThereAfterAPowerLoss() throws Exception {
    Path image = temporary.resolve("image");
    Path mount = Files.createDirectories(temporary.resolve("mount"));
    try {
      Files.createFile(image);
      if (run("truncate", "-s", "400M", image.toString()) != 0 || run("mkfs.ext4", "-q", image.toString()) != 0
          || run("mount", "-o", "loop", image.toString(), mount.toString()) != 0) {
        System.out.println("PowerLossTest: NOT PROVED HERE, for this machine cannot mount an ext4 of its own");
        return;
      }
    } catch (IOException e) {
      System.out.println("PowerLossTest: NOT PROVED HERE, for a tool is missing: " + e.getMessage());
      return;
    }
    try {
      lose(image, mount);
    } finally {
      run("umount", mount.toString());
    }
  }

  private static void lose(Path image, Path mount) throws Exception {
    Set<TaskId> answered = new HashSet<>();
    Random random = new Random();
    for (int loss = 0; loss < LOSSES; loss++) {
      boolean[] isDown = new boolean[1];
      answered.addAll(SubmittingProcess.run(mount.resolve("store"), 500 + random.nextInt(3_000), process -> {
        isDown[0] = run("python3", "-c", SHUTDOWN, mount.toString()) == 0;
        process.destroyForcibly();
      }));
      if (!isDown[0]) {
        System.out.println("PowerLossTest: NOT PROVED HERE, for the file system cannot be shut down");
        return;
      }
      assertThat(run("umount", mount.toString())).isZero();
      assertThat(run("mount", "-o", "loop", image.toString(), mount.toString())).isZero();
      SubmittingProcess.check(mount.resolve("store"), answered);
    }
    System.out
        .println("PowerLossTest: " + LOSSES + " losses of power, " + answered.size() + " answered tasks, none lost");
  }
}
