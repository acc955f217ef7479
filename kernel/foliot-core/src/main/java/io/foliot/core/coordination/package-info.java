/** Who is alive, who leads, and one shared document. */
@NullMarked
package io.foliot.core.coordination;

import org.jspecify.annotations.NullMarked;
