/**
 * {@code foliot bench}: measures a server or an engine on this machine, and checks that the measured work was done.
 */
@NullMarked
package io.foliot.load;

import org.jspecify.annotations.NullMarked;
