/** The engine, driven by hand. */
@NullMarked
package io.foliot.testkit.engine;

import org.jspecify.annotations.NullMarked;
