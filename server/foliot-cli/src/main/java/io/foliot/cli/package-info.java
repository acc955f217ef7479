/** The foliot command: the server, and what talks to one from a terminal. */
@NullMarked
package io.foliot.cli;

import org.jspecify.annotations.NullMarked;
