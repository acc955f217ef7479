#!/bin/sh
# Claims tasks from a server, one at a time, and extends the lease of a task until its work has ended.
set -u
command -v curl >/dev/null && command -v jq >/dev/null || { echo "install curl and jq first" >&2; exit 1; }
server=${FOLIOT_URL:-http://127.0.0.1:7400}
lease=3s # after which another worker gets the task of a worker that died

# post PATH BODY [OPTIONS OF CURL]
post() {
  path=$1 body=$2
  shift 2
  curl -sS "$@" "$server$path" -H 'Content-Type: application/json' -d "$body"
}

# Reports on the attempt, and prints the status: report ack|nack|extend [FIELDS]. 404 and 409 say that the lease is
# lost: the task was cancelled, or claimed again when its lease had ended.
report() {
  post "/v1/tasks/$id/$1" "{\"token\": \"$token\"${2:-}}" -o /dev/null -w '%{http_code}'
}

# Extends the lease each second while this script runs, and ends the work when the lease is lost.
keep_lease() {
  while sleep 1 && kill -0 $$ 2>/dev/null; do
    case $(report extend ", \"lease\": \"$lease\"") in
      404 | 409) kill "$work" && return ;;
    esac
  done
}

work='' keeper=''
trap 'kill $work $keeper 2>/dev/null' EXIT
trap 'exit 143' INT TERM
while :; do
  claim="{\"wait\": \"30s\", \"lease\": \"$lease\", \"worker\": \"shell\"}"
  if ! tasks=$(post /v1/queues/videos/claims "$claim" -f); then
    sleep 1
    continue
  fi
  id=$(printf %s "$tasks" | jq -r '.tasks[0].id // empty')
  [ -n "$id" ] || continue
  token=$(printf %s "$tasks" | jq -r '.tasks[0].token')
  key=$(printf %s "$tasks" | jq -r '.tasks[0].key')

  echo "converting $key"
  sleep "$(printf %s "$tasks" | jq -r '.tasks[0].payload')" & # the work
  work=$!
  keep_lease &
  keeper=$!
  # The shell reports a process that was killed on its standard error.
  wait "$work" 2>/dev/null
  status=$?
  kill "$keeper" 2>/dev/null
  wait "$keeper" 2>/dev/null

  case $status in
    0) settled=$(report ack) ;;
    143) settled=409 ;; # ended by keep_lease
    *) settled=$(report nack ", \"reason\": \"exit code $status\"") ;;
  esac
  case $status,$settled in
    *,404 | *,409) echo "lost the lease of $key" ;;
    0,200) echo "converted $key" ;;
    *) echo "could not convert $key" ;;
  esac
done
