#!/bin/sh
# The script of the job disk: prints how full the disk is. The worker's folder of scripts and the job's parameter choose
# it; the last line it prints is the text of the result. Its standard input has the shard as JSON, for scripts that need
# it.
set -eu
usage=$(df -P /)
printf '%s\n' "$usage" | awk 'NR == 2 {print "the disk is " $5 " full"}'
