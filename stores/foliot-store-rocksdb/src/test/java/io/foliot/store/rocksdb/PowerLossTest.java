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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Power loss: the store on an ext4 of its own that is shut down beneath it (EXT4_IOC_SHUTDOWN without a flush of the
 * journal), so that whatever was not synced is gone. Every task that was answered is there afterwards, and the store
 * opens by itself.
 *
 * <p>Needs root, {@code mkfs.ext4}, a loop device and {@code python3} for the ioctl, and fails where one is missing.
 */
@Tag("machine")
final class PowerLossTest {
  private static final int LOSSES = 4;
  private static final String SHUTDOWN = """
      import fcntl, os, struct, sys
      fd = os.open(sys.argv[1], os.O_RDONLY)
      fcntl.ioctl(fd, 0x8004587D, struct.pack("I", 2))
      """;

  @TempDir
  Path temporary;

  private static void run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as("%s: %s", List.of(command), said).isZero();
  }

  @Test
  void everyAnsweredTaskIsThereAfterAPowerLoss() throws Exception {
    Path image = temporary.resolve("image");
    Path mount = Files.createDirectories(temporary.resolve("mount"));
    Files.createFile(image);
    run("truncate", "-s", "400M", image.toString());
    run("mkfs.ext4", "-q", image.toString());
    run("mount", "-o", "loop", image.toString(), mount.toString());
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
      answered.addAll(SubmittingProcess.run(mount.resolve("store"), 500 + random.nextInt(3_000), process -> {
        run("python3", "-c", SHUTDOWN, mount.toString());
        process.destroyForcibly();
      }));
      run("umount", mount.toString());
      run("mount", "-o", "loop", image.toString(), mount.toString());
      SubmittingProcess.check(mount.resolve("store"), answered);
    }
    assertThat(answered).hasSizeGreaterThan(LOSSES);
  }
}
