/** The server as the process that the command starts: its end, its exit codes, its files. */
@NullMarked
package io.foliot.server;

import org.jspecify.annotations.NullMarked;
