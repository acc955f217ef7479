/**
 * {@code foliot bench}: what a server or an engine can do on this machine, each figure with proof that the work was
 * done.
 */
@NullMarked
package io.foliot.load;

import org.jspecify.annotations.NullMarked;
