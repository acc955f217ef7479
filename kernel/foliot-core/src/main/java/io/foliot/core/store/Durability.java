package io.foliot.core.store;

/**
 * The failures that an acknowledged write survives.
 *
 * @param durabilityClass {@code D}: kill and power loss; {@code B}: all but the writes of the last window;
 *     {@code NONE}: nothing, it is gone with the process
 * @param windowMillis for class B, the window; else 0
 * @param detail the settings this was read from, for people
 */
public record Durability(String durabilityClass, long windowMillis, String detail) {}
