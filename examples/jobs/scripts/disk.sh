#!/bin/sh
# Prints how full the disk is, for the job "disk". The parameter of the job names this script, in the worker's
# folder of scripts. The last printed line is the text of the result. The standard input is the shard as JSON, which
# this script does not need.
set -eu
usage=$(df -P /)
printf '%s\n' "$usage" | awk 'NR == 2 {print "the disk is " $5 " full"}'
