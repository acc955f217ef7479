package io.foliot.server.api;

import io.foliot.core.store.Backups;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The data of the server that the API shows.
 *
 * @param version the version of Foliot
 * @param metrics the metrics, in the text format of Prometheus
 * @param backups the writer of backups, or null if the store has none
 * @param backupFolder the folder that backups are written into
 * @param troubles reasons why the server is not ready, apart from those of the engine
 * @param warnings what an operator should know although the server is ready
 */
public record ServerInfo(String version, Supplier<String> metrics, @Nullable Backups backups, Path backupFolder,
    Supplier<List<String>> troubles, Supplier<List<String>> warnings) {}
