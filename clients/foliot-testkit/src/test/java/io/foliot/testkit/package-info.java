/** Tests of the kit: it passes on correct stores, and fails on broken ones. */
@NullMarked
package io.foliot.testkit;

import org.jspecify.annotations.NullMarked;
