/** Tests of what is shipped: the archive, the Debian package, the artifacts. */
@NullMarked
package io.foliot.dist;

import org.jspecify.annotations.NullMarked;
