/** What a delivery must offer. */
@NullMarked
package io.foliot.core.delivery;

import org.jspecify.annotations.NullMarked;
