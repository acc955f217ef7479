/** The coordinators that need no service of their own: for one node alone, and for nodes that share a store. */
@NullMarked
package io.foliot.engine.coordination;

import org.jspecify.annotations.NullMarked;
