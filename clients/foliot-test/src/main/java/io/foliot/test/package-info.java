/** Foliot in the tests of applications: time passes when the test says so, and everything runs on its thread. */
@NullMarked
package io.foliot.test;

import org.jspecify.annotations.NullMarked;
