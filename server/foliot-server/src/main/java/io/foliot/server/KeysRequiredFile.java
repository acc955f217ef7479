package io.foliot.server;

import io.foliot.server.security.KeyRing;
import io.foliot.server.store.PrivateFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file of the data folder that records that this server has had API keys. It is there with a shared store, too:
 * inside the store, the record would be lost together with the keys.
 */
final class KeysRequiredFile implements KeyRing.Latch {
  private static final Logger log = LoggerFactory.getLogger(KeysRequiredFile.class);
  private static final String NAME = "keys-required";
  private static final String TEXT = "This server has had API keys. It is therefore not open without keys, even if its"
      + " store has lost them, until it is started with --access open.\n";

  private final @Nullable Path folder;

  /** @param folder the data folder, or null to record nothing */
  KeysRequiredFile(@Nullable Path folder) {
    this.folder = folder;
  }

  @Override
  public boolean isSet() {
    return folder != null && Files.exists(folder.resolve(NAME));
  }

  @Override
  public void set() {
    if (folder == null || isSet()) {
      return;
    }
    try {
      PrivateFiles.ensureFolder(folder);
      PrivateFiles.write(folder.resolve(NAME), TEXT);
    } catch (IOException e) {
      log.error("cannot record that this server has API keys; if its store loses them, the next start opens the server"
          + " to this machine. Choose a folder that can be written with --data (store.data), or set --access keys"
          + " (security.access): folder={}, reason={}", folder, e.toString());
    }
  }

  /** Returns a latch that is always set, and records the first key in this file. */
  KeyRing.Latch alwaysSet() {
    return new KeyRing.Latch() {
      @Override
      public boolean isSet() {
        return true;
      }

      @Override
      public void set() {
        KeysRequiredFile.this.set();
      }
    };
  }

  /** Forgets that this server has had keys. */
  void clear() {
    if (folder == null) {
      return;
    }
    try {
      Files.deleteIfExists(folder.resolve(NAME));
    } catch (IOException e) {
      throw new StartException(StartException.Reason.CONFIGURATION, "--access open (security.access) cannot remove a"
          + " file of the data folder: file=" + folder.resolve(NAME) + ", reason=" + e, e);
    }
  }

  @Override
  public String toString() {
    return folder == null ? "none" : folder.resolve(NAME).toString();
  }
}
