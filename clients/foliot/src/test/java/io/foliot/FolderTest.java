package io.foliot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@link Foliot#open}. */
final class FolderTest extends FoliotContract {
  @TempDir
  Path folder;

  @Override
  Foliot open(FoliotBuilder builder) {
    return builder.open(folder);
  }

  @Override
  boolean isDurable() {
    return true;
  }

  @Test
  void theLogNamesTheNodeTheStoreAndTheQueues() {
    List<String> lines = new CopyOnWriteArrayList<>();
    Logger logger = Logger.getLogger(EngineBackend.class.getName());
    Handler handler = new Handler() {
      @Override
      public void publish(LogRecord line) {
        // Other tests open nodes of their own meanwhile.
        if (line.getMessage().contains("shop-1")) {
          lines.add(line.getLevel() + " " + line.getMessage());
        }
      }

      @Override
      public void flush() {}

      @Override
      public void close() {}
    };
    logger.addHandler(handler);
    try {
      try (Foliot foliot = Foliot.builder().node("shop-1").zone("fra1").open(folder)) {
        assertThat(foliot.tasks("mails", String.class)).isNotNull();
      }
      try (Foliot foliot = Foliot.builder().node("shop-1").open(folder)) {
        assertThat(foliot).isNotNull();
      }
    } finally {
      logger.removeHandler(handler);
    }
    assertThat(lines).containsExactly(
        "INFO Foliot is open: node=shop-1, zone=fra1, store=rocksdb, durability=D, slots=256, queues=[]",
        "INFO Foliot is open: node=shop-1, store=rocksdb, durability=D, slots=256, queues=[mails]");
  }

  @Test
  void aFolderInUseIsRefusedAndItsUserStillSubmits() {
    try (Foliot foliot = Foliot.open(folder)) {
      assertThatThrownBy(() -> Foliot.open(folder)).hasMessageContaining("in use");
      assertThat(foliot.tasks("q", String.class).now().submit("x").result()).isEqualTo(Submitted.Result.CREATED);
    }
  }
}
