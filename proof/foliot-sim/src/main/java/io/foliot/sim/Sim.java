package io.foliot.sim;

/** What all parts of a run share. */
record Sim(World world, Schedule schedule, Coverage coverage, Trace trace) {}
