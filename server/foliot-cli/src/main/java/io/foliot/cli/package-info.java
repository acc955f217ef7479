/** The foliot command: the server, and the commands that call a server from a terminal. */
@NullMarked
package io.foliot.cli;

import org.jspecify.annotations.NullMarked;
