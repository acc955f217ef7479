package io.foliot.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class HistoryTest {
  private static final Attempt ATTEMPT = new Attempt("t", "q", null, 3, "f", 2, 77);

  @TempDir
  Path directory;

  /** Returns events of each kind, with texts that contain the separators and escapes of a line. */
  private static List<Event> everyEvent() {
    String odd = "a\tb\nc\rd\\Ne\\";
    Target.Key key = new Target.Key("q", odd);
    Target.Task task = new Target.Task("\\N");
    List<Request> requests = List.of(new Request.Submit("q", null, 5, Request.OnConflict.KEEP, odd),
        new Request.Submit("q", "", Long.MIN_VALUE, Request.OnConflict.REJECT, null), new Request.Reset("", odd, 5),
        new Request.Touch("q", "ü€", Long.MAX_VALUE), new Request.Cancel(key), new Request.RunNow(task),
        new Request.Redrive("q", null), new Request.Redrive("q", "t"), new Request.Read(task));
    List<Reply> replies = List.of(new Reply.Placed(Reply.Result.RESET_PENDING, "t", 4, 5),
        new Reply.Cancelled(Reply.CancelResult.CANCELLED, Reply.NO_GENERATION),
        new Reply.Found("t", 4, Reply.State.FAILED), new Reply.NotFound(), new Reply.Done(), new Reply.Failed(odd),
        new Reply.Unknown("."));
    History history = History.inMemory();
    for (int i = 0; i < requests.size(); i++) {
      long op = history.invoked(i, requests.get(i));
      if (i < replies.size()) {
        history.answered(op, i + 1, replies.get(i));
      }
    }
    history.replied(history.began(20, ATTEMPT), 21, Event.Reception.GONE);
    history.began(22, new Attempt(odd, odd, odd, 1, odd, 1, -1));
    history.faultEnded(history.faultBegan(23, Event.Fault.PARTITION, odd), 24);
    history.forgot(25, 7);
    history.runEnded(30);
    return history.events();
  }

  @Test
  void aFileKeepsEachEvent() throws IOException {
    Path path = directory.resolve("history");
    try (History history = History.in(path)) {
      everyEvent().forEach(history::append);
      assertThat(history.events()).isEqualTo(everyEvent());
    }
    assertThat(Files.readAllLines(path)).hasSameSizeAs(everyEvent());
    assertThat(History.read(path).events()).isEqualTo(everyEvent());
  }

  @Test
  void theWholeLinesOfACutFileAreRead() throws IOException {
    Path whole = directory.resolve("whole");
    try (History history = History.in(whole)) {
      everyEvent().forEach(history::append);
    }
    byte[] bytes = Files.readAllBytes(whole);
    Path cut = directory.resolve("cut");
    for (int length = 0; length <= bytes.length; length++) {
      Files.write(cut, Arrays.copyOf(bytes, length));
      List<Event> events = History.read(cut).events();
      // A line may be whole without its newline.
      int lines = (int) new String(bytes, 0, length, StandardCharsets.UTF_8).chars().filter(c -> c == '\n').count();
      assertThat(events.size()).isBetween(lines, lines + 1);
      assertThat(events).isEqualTo(everyEvent().subList(0, events.size()));
    }
  }

  @Test
  void aRestartedWriterAppendsToItsFile() throws IOException {
    Path path = directory.resolve("receiver");
    try (History history = History.in(path)) {
      history.replied(history.began(1, ATTEMPT), 2, Event.Reception.RETRY);
      history.began(3, ATTEMPT);
    }
    Files.writeString(path, "4\treplied\t2", StandardOpenOption.APPEND);
    try (History history = History.in(path)) {
      history.replied(history.began(5, ATTEMPT), 6, Event.Reception.SUCCESS);
    }
    assertThat(History.read(path).events()).containsExactly(new Event.Began(1, 1, ATTEMPT),
        new Event.Replied(1, 2, Event.Reception.RETRY), new Event.Began(2, 3, ATTEMPT), new Event.Began(3, 5, ATTEMPT),
        new Event.Replied(3, 6, Event.Reception.SUCCESS));
  }

  @Test
  void filesOfSeveralWritersMakeOneHistory() throws IOException {
    Path client = directory.resolve("client");
    Path receiver = directory.resolve("receiver");
    try (History history = History.in(client)) {
      history.answered(
          history.invoked(0, new Request.Submit("q", null, 77, Request.OnConflict.RESET, null)), 1,
          new Reply.Placed(Reply.Result.CREATED, "t", 3, 77));
    }
    try (History history = History.in(receiver)) {
      history.replied(history.began(80, ATTEMPT), 81, Event.Reception.SUCCESS);
    }
    History history = History.read(client, receiver);
    history.faultEnded(history.faultBegan(10, Event.Fault.KILL, "server"), 20);
    history.runEnded(5000);
    Verdict verdict = new HistoryChecker(Allowances.exact(50, 10, 1000)).check(history);
    assertThat(verdict.ok()).as(verdict.toString()).isTrue();
    assertThat(verdict.counts().delivered()).isEqualTo(1);
  }

  @Test
  void aWholeLineThatIsNoEventIsAnError() throws IOException {
    Path path = directory.resolve("history");
    Files.writeString(path, "1\tend\t.\n1\tnonsense\t.\n");
    assertThatThrownBy(() -> History.read(path)).isInstanceOf(IOException.class).hasMessageContaining("line=2");
    Files.writeString(path, "1\tend\tmore\t.\n");
    assertThatThrownBy(() -> History.read(path)).isInstanceOf(IOException.class);
  }

  @Test
  void manyThreadsMayRecordAtOnce() throws Exception {
    int threads = 4;
    int each = 500;
    Path path = directory.resolve("history");
    try (History history = History.in(path)) {
      CountDownLatch start = new CountDownLatch(1);
      List<Thread> writers = IntStream.range(0, threads).mapToObj(i -> Thread.ofPlatform().start(() -> {
        try {
          start.await();
        } catch (InterruptedException interrupt) {
          throw new IllegalStateException(interrupt);
        }
        for (int n = 0; n < each; n++) {
          history.replied(history.began(n, ATTEMPT), n, Event.Reception.SUCCESS);
        }
      })).toList();
      start.countDown();
      for (Thread writer : writers) {
        writer.join();
      }
      Set<Long> numbers = history.events().stream().filter(Event.Began.class::isInstance)
          .map(event -> ((Event.Began) event).delivery()).collect(Collectors.toSet());
      assertThat(numbers).hasSize(threads * each);
      assertThat(history.events()).hasSize(2 * threads * each);
    }
  }
}
