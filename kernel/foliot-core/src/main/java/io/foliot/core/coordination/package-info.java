/** The SPI of coordinators: members, the leader, and one shared document. */
@NullMarked
package io.foliot.core.coordination;

import org.jspecify.annotations.NullMarked;
