package io.foliot.store.jdbc;

import io.foliot.core.store.TouchResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The results of touches, by their place in the list.
 *
 * @param micros the database's clock when it decided them
 * @param results null where it was not a mere push back, which takes the general path
 */
record Touched(long micros, List<@Nullable TouchResult> results) {}
