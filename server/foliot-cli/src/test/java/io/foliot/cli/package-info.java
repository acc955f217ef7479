/** Tests of the foliot command. */
@NullMarked
package io.foliot.cli;

import org.jspecify.annotations.NullMarked;
