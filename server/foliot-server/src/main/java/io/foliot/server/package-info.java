/** A server in a process: its start and stop, its HTTP listener, its log, and the checks that it works. */
@NullMarked
package io.foliot.server;

import org.jspecify.annotations.NullMarked;
