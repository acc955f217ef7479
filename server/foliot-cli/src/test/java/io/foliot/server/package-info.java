/** Tests of the server process that the command starts: its end, its exit codes and its files. */
@NullMarked
package io.foliot.server;

import org.jspecify.annotations.NullMarked;
