package io.foliot.cli;

import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** Prints the progress of some work every second; on a terminal, always on the same line. */
final class Progress {
  /** Number of columns of a terminal that a line overwrites. */
  private static final int WIDTH = 70;

  private final Shell shell;
  private final String what;
  private final Supplier<String> state;
  private final CountDownLatch done = new CountDownLatch(1);
  private final Thread printer = new Thread(this::print, "foliot-progress");

  private Progress(Shell shell, String what, Supplier<String> state) {
    this.shell = shell;
    this.what = what;
    this.state = state;
    printer.setDaemon(true);
  }

  /** Runs work that writes into a folder, and meanwhile prints how much has been written. */
  static <T> T during(Shell shell, String what, Path folder, Supplier<T> work) {
    return during(shell, what, () -> {
      long bytes = Folders.bytes(folder);
      return bytes == 0 ? "" : Words.bytes(bytes) + " written";
    }, work);
  }

  /** Runs work that reports its progress, and meanwhile prints the latest report. */
  static <T> T during(Shell shell, String what, Function<Consumer<String>, T> work) {
    AtomicReference<String> last = new AtomicReference<>("");
    return during(shell, what, last::get, () -> work.apply(last::set));
  }

  private static <T> T during(Shell shell, String what, Supplier<String> state, Supplier<T> work) {
    Progress progress = new Progress(shell, what, state);
    progress.printer.start();
    try {
      return work.get();
    } finally {
      progress.end();
    }
  }

  private void print() {
    long begun = System.nanoTime();
    try {
      while (!done.await(1, TimeUnit.SECONDS)) {
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begun);
        String now = state.get();
        line(what + ": " + seconds + " s" + (now.isEmpty() ? "" : ", " + now));
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
      printer.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (shell.terminal()) {
      shell.err().print("\r" + " ".repeat(WIDTH) + "\r");
      shell.err().flush();
    }
  }
}
