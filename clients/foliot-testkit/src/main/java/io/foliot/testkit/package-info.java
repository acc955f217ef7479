/** A settable clock and manual event loops for all tests, and the contract kit for authors of stores. */
@NullMarked
package io.foliot.testkit;

import org.jspecify.annotations.NullMarked;
