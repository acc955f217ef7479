package io.foliot.sim;

/** The state that all parts of a simulation share. */
record Sim(World world, Schedule schedule, Coverage coverage, Trace trace) {}
