/** The foliot command: the server, and the commands that call a server or work on the files of a store. */
@NullMarked
package io.foliot.cli;

import org.jspecify.annotations.NullMarked;
