/** The foliot command: the server, and the commands that talk to one from a terminal. */
@NullMarked
package io.foliot.cli;

import org.jspecify.annotations.NullMarked;
