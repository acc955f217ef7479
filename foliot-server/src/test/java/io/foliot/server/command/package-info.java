/** Tests of the foliot command. */
@NullMarked
package io.foliot.server.command;

import org.jspecify.annotations.NullMarked;
