package io.foliot.server.command;

import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Says every second how far something is that writes into a folder; on a terminal over the same line. */
final class Progress {
  private static final int WIDTH = 70;

  private final Shell shell;
  private final String what;
  private final Path folder;
  private final CountDownLatch done = new CountDownLatch(1);
  private final Thread teller = new Thread(this::tell, "foliot-progress");

  private Progress(Shell shell, String what, Path folder) {
    this.shell = shell;
    this.what = what;
    this.folder = folder;
    teller.setDaemon(true);
  }

  /** Does the work, and tells meanwhile. */
  static <T> T during(Shell shell, String what, Path folder, Supplier<T> work) {
    Progress progress = new Progress(shell, what, folder);
    progress.teller.start();
    try {
      return work.get();
    } finally {
      progress.end();
    }
  }

  private void tell() {
    long begun = System.nanoTime();
    try {
      while (!done.await(1, TimeUnit.SECONDS)) {
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begun);
        long bytes = Folders.bytes(folder);
        line(what + ": " + seconds + " s" + (bytes == 0 ? "" : ", " + Words.bytes(bytes) + " written"));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void line(String text) {
    if (shell.terminal()) {
      shell.err().print("\r" + text + " ".repeat(Math.max(0, WIDTH - text.length())));
      shell.err().flush();
    } else {
      shell.error(text);
    }
  }

  private void end() {
    done.countDown();
    try {
      teller.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (shell.terminal()) {
      shell.err().print("\r" + " ".repeat(WIDTH) + "\r");
      shell.err().flush();
    }
  }
}
