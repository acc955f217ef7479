/** Tests of coordination through the store, under one thread and a settable clock. */
@org.jspecify.annotations.NullMarked
package io.foliot.engine.coordination;
