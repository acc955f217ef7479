/** Tests of jobs. */
@org.jspecify.annotations.NullMarked
package io.foliot.jobs;
