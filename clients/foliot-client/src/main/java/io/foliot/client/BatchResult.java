package io.foliot.client;

/** The result of one task of a batch: the task was accepted, or it was refused and nothing was stored for it. */
public sealed interface BatchResult permits SubmittedTask, RefusedTask {}
