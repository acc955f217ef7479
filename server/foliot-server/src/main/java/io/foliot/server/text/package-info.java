/** Reads sizes, suggests names for typing errors, and checks that UTF-8 can encode a text. */
@NullMarked
package io.foliot.server.text;

import org.jspecify.annotations.NullMarked;
