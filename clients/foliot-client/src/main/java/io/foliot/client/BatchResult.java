package io.foliot.client;

/** The result of one task of a batch: it was accepted, or it was refused and nothing was done. */
public sealed interface BatchResult permits SubmittedTask, Problem {}
