package io.foliot.core.store;

/**
 * A small configuration document.
 *
 * @param name the name, unique among documents of the same kind
 * @param version a positive number, which each write increases by one; not reused after a delete
 * @param content the bytes of the document; the array is shared, and must not be modified
 */
@SuppressWarnings("ArrayRecordComponent") // compared by name and version, never as a whole
public record Document(String name, long version, byte[] content) {}
