package io.foliot.core.store;

/**
 * The failures that an acknowledged write survives.
 *
 * @param durabilityClass {@code D}: the write survives a kill and a power loss; {@code B}: it does so unless it was
 *     made in the last window before the failure; {@code NONE}: it is lost with the process
 * @param windowMillis for class B, the length of the window; else 0
 * @param detail a description of the settings from which the class follows
 */
public record Durability(String durabilityClass, long windowMillis, String detail) {}
