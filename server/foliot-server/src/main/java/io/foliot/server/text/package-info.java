/** Sizes and names as people write them, and text that can be written as UTF-8. */
@NullMarked
package io.foliot.server.text;

import org.jspecify.annotations.NullMarked;
