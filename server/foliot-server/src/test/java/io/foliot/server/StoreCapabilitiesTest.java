package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.store.ForwardingStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that the server offers the capabilities of its store, even if the store is wrapped in another class. */
final class StoreCapabilitiesTest {
  private static final String BACKUP = "{\"directory\": \"first\"}";

  @Test
  void aWrappedStoreOffersBackupsAndMetrics(@TempDir Path folder) {
    Map<String, String> settings = Map.of("store", "rocksdb", "data", folder.toString());
    try (Rig rig = Rig.over(settings, store -> new ForwardingStore(store) {})) {
      Rig.Answer backup = rig.post("/v1/backups", BACKUP);
      assertThat(backup.status()).as(backup.body()).isEqualTo(201);
      assertThat(backup.at("number")).hasToString("1");
      assertThat(folder.resolve("backups").resolve("first")).isNotEmptyDirectory();
      assertThat(rig.get("/metrics").body()).contains("# TYPE foliot_store_log_bytes gauge")
          .contains("# TYPE foliot_store_commits_total counter")
          .contains("# HELP foliot_store_sync_seconds_total Time spent on writing and syncing");
    }
  }

  @Test
  void aBackupThatCannotBeWrittenIsAFailureOfTheServer(@TempDir Path folder) throws IOException {
    Map<String, String> settings = Map.of("store", "rocksdb", "data", folder.toString());
    try (Rig rig = Rig.over(settings, store -> store)) {
      Files.writeString(folder.resolve("backups"), "a file where the folder should be");
      Rig.Answer backup = rig.post("/v1/backups", BACKUP);
      assertThat(backup.status()).as(backup.body()).isEqualTo(503);
      assertThat(backup.body()).contains("the backup was not written");
    }
  }

  @Test
  void aStoreWithoutBackupsRefusesThem() {
    try (Rig rig = Rig.start()) {
      assertThat(rig.post("/v1/backups", BACKUP).body()).contains("this store has no backup of its own");
      assertThat(rig.get("/metrics").body()).doesNotContain("foliot_store_log_bytes");
    }
  }
}
