/**
 * Foliot in the tests of applications: time passes when the test advances it, and everything runs on the test's thread.
 */
@NullMarked
package io.foliot.test;

import org.jspecify.annotations.NullMarked;
