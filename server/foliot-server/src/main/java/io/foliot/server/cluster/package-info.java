/** Coordinators as configurations say. */
@NullMarked
package io.foliot.server.cluster;

import org.jspecify.annotations.NullMarked;
