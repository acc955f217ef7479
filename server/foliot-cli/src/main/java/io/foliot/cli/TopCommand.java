package io.foliot.cli;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jline.terminal.Attributes;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.NonBlockingReader;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows the figures of a server live. */
@Command(name = "top", description = {"Shows rates, lateness, queues and destinations live; q quits.",
    "Without a terminal, or with --lines, prints a line per second."})
final class TopCommand implements Callable<Integer> {
  private static final long REFRESH_NANOS = TimeUnit.SECONDS.toNanos(1);
  // ENTER switches to the alternate screen and hides the cursor; LEAVE undoes both.
  private static final String ENTER = "\u001b[?1049h\u001b[?25l";
  private static final String LEAVE = "\u001b[?25h\u001b[?1049l";
  private static final String HOME = "\u001b[H";
  private static final String CLEAR_LINE = "\u001b[K";
  private static final String CLEAR_BELOW = "\u001b[J";

  private final Shell shell;

  @Option(names = "--lines", description = "print a line per second, also on a terminal")
  private boolean plain;

  @Option(names = "--count", paramLabel = "N", description = "end after this many seconds")
  private @Nullable Integer count;

  @Mixin
  private final ServerOption server = new ServerOption();

  // written by the thread of a signal handler and by the command's thread
  private volatile boolean quit;

  TopCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    CommandException.ensurePositive("--count", count);
    try (ServerConnection remote = server.open(shell)) {
      TopScreen screen = new TopScreen(remote.url());
      // The command fails if the first read fails, for example because the address is wrong. Later reads are retried.
      refresh(remote, screen);
      if (shell.terminal() && !plain) {
        show(remote, screen);
      } else {
        print(remote, screen);
      }
    } catch (IOException e) {
      throw CommandException.failure("the terminal cannot be used: " + e.getMessage() + "; --lines needs none", e);
    }
    return ExitCode.OK;
  }

  private static void refresh(ServerConnection remote, TopScreen screen) {
    String metrics = remote.metrics();
    screen.update(metrics, remote.get("/v1/queues"), remote.get("/v1/cluster"), Instant.now(), System.nanoTime());
  }

  private static void tryRefresh(ServerConnection remote, TopScreen screen) {
    try {
      refresh(remote, screen);
    } catch (CommandException e) {
      screen.failed(String.valueOf(e.getMessage()), Instant.now());
    }
  }

  private void print(ServerConnection remote, TopScreen screen) {
    long next = System.nanoTime();
    for (int i = 0; count == null || i < count; i++) {
      next += REFRESH_NANOS;
      for (long left = next - System.nanoTime(); left > 0; left = next - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
      tryRefresh(remote, screen);
      shell.line(screen.line());
      if (shell.out().checkError()) {
        // The program that read the lines has closed the pipe.
        return;
      }
    }
  }

  private void show(ServerConnection remote, TopScreen screen) throws IOException {
    try (Terminal terminal = TerminalBuilder.builder().system(true).dumb(false).build()) {
      Attributes before = terminal.enterRawMode();
      Thread restore = new Thread(() -> leave(terminal, before), "foliot-terminal");
      Runtime.getRuntime().addShutdownHook(restore);
      try {
        terminal.handle(Terminal.Signal.INT, signal -> quit = true);
        terminal.writer().print(ENTER);
        for (int i = 0; !quit && (count == null || i < count); i++) {
          Size size = terminal.getSize();
          draw(terminal, screen.lines(shell, Math.max(4, size.getRows()), Math.max(20, size.getColumns())));
          quit |= quits(terminal.reader());
          tryRefresh(remote, screen);
        }
      } finally {
        leave(terminal, before);
        Runtime.getRuntime().removeShutdownHook(restore);
      }
    }
  }

  private static void leave(Terminal terminal, Attributes before) {
    terminal.writer().print(LEAVE);
    terminal.flush();
    terminal.setAttributes(before);
  }

  private static void draw(Terminal terminal, List<String> lines) {
    StringBuilder text = new StringBuilder(HOME);
    for (int i = 0; i < lines.size(); i++) {
      text.append(i == 0 ? "" : "\r\n").append(lines.get(i)).append(CLEAR_LINE);
    }
    terminal.writer().print(text.append(CLEAR_BELOW));
    terminal.flush();
  }

  /** Waits up to a second for a key that quits, and returns whether there was one. */
  private boolean quits(NonBlockingReader keys) throws IOException {
    long end = System.nanoTime() + REFRESH_NANOS;
    for (long left = REFRESH_NANOS; left > 0 && !quit; left = end - System.nanoTime()) {
      int key = keys.read(Math.max(1, TimeUnit.NANOSECONDS.toMillis(left)));
      if (key == 'q' || key == 'Q' || key == NonBlockingReader.EOF) {
        return true;
      }
    }
    return false;
  }
}
