package io.foliot.server;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.foliot.server.security.KeyRing;
import io.foliot.server.store.PrivateFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file of the data folder that records which stores have had API keys, by their {@link StoreIdentity}. It is there
 * with a shared store, too: inside the store, the record would be lost together with the keys. A store that this server
 * has not used before may be one of them that has lost its content, so it needs keys if any of them did.
 */
final class KeysRequiredFile implements KeyRing.Latch {
  private static final Logger log = LoggerFactory.getLogger(KeysRequiredFile.class);
  private static final String NAME = "keys-required";
  private static final String TEXT = "# The stores with these identities have had API keys. A server on one of them, or"
      + " on a store that it has not used before, is not open without keys until it is started with --access open.\n";

  private final @Nullable Path folder;
  private final StoreIdentity identity;

  // guarded by this
  private String recorded = "";
  private boolean isOpened;

  /** @param folder the data folder, or null to record nothing */
  KeysRequiredFile(@Nullable Path folder, StoreIdentity identity) {
    this.folder = folder;
    this.identity = identity;
  }

  @Override
  public synchronized boolean isSet() {
    if (folder == null || isOpened || !Files.exists(folder.resolve(NAME))) {
      return false;
    }
    try {
      return !identity.isKnown() || marked(folder).contains(identity.present());
    } catch (IOException e) {
      log.error("cannot read which stores have had API keys, so this server needs them: file={}, reason={}", this,
          e.toString());
      return true;
    }
  }

  private static List<String> marked(Path folder) throws IOException {
    Path file = folder.resolve(NAME);
    return Files.exists(file)
        ? Files.readAllLines(file, US_ASCII).stream().filter(line -> !line.startsWith("#")).toList()
        : List.of();
  }

  private void write(Path in, List<String> marked) throws IOException {
    PrivateFiles.ensureFolder(in);
    PrivateFiles.write(in.resolve(NAME), TEXT + String.join("\n", marked) + "\n");
  }

  @Override
  public synchronized void set() {
    String present = identity.present();
    if (folder == null || recorded.equals(present)) {
      return;
    }
    try {
      List<String> marked = new ArrayList<>(marked(folder));
      if (!marked.contains(present)) {
        marked.add(present);
        write(folder, marked);
      }
      recorded = present;
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

  /** Forgets that the store has had keys, or may have had them. */
  synchronized void clear() {
    if (folder == null) {
      return;
    }
    try {
      List<String> marked = new ArrayList<>(marked(folder));
      if (marked.remove(identity.present())) {
        if (marked.isEmpty()) {
          Files.delete(folder.resolve(NAME));
        } else {
          write(folder, marked);
        }
      }
      recorded = "";
      isOpened = true;
    } catch (IOException e) {
      throw new StartException(StartException.Reason.CONFIGURATION, "--access open (security.access) cannot change a"
          + " file of the data folder: file=" + folder.resolve(NAME) + ", reason=" + e, e);
    }
  }

  @Override
  public String toString() {
    return folder == null ? "none" : folder.resolve(NAME).toString();
  }
}
