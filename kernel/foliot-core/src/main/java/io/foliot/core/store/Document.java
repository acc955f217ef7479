package io.foliot.core.store;

/**
 * A small record of configuration.
 *
 * @param name its name within its kind
 * @param version from 1, one more with each write; never the same again after a delete
 * @param content its bytes; shared, not to be written to
 */
@SuppressWarnings("ArrayRecordComponent") // compared by name and version, never as a whole
public record Document(String name, long version, byte[] content) {}
