package io.foliot.core.store;

/**
 * The failures that an acknowledged write survives.
 *
 * @param durabilityClass {@code D}: the write survives a kill and a power loss; {@code B}: the same, except for writes
 *     made within the window before the failure; {@code NONE}: a power loss may lose every write. The end of a process
 *     that has the store in its memory loses every write
 * @param windowMillis for class B, the length of the window; else 0
 * @param detail a description of the settings that determine the class
 */
public record Durability(String durabilityClass, long windowMillis, String detail) {}
