/** For users: a settable clock and a manual driver. For authors of stores: the contract kit. */
@NullMarked
package io.foliot.testkit;

import org.jspecify.annotations.NullMarked;
