package io.foliot.client;

/** What became of one task of a batch: it was taken on, or it was refused and nothing was done about it. */
public sealed interface BatchResult permits SubmittedTask, Problem {}
