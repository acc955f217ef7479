/** The coordinators that a configuration can name. */
@NullMarked
package io.foliot.server.cluster;

import org.jspecify.annotations.NullMarked;
