#!/usr/bin/env bash
# Records the GPU of this machine, in as many calls as it takes: tunes, verifies and times what README, the
# pages of docs/ and the report are made of, into result files that a test holds against the code.
#
#   scripts/record.sh [--program FILE] [--to FOLDER] [--work FOLDER] [--minutes M] [--seconds S] [APP...]
#
#   --program   the amasia to run; by default that of build/sm90, with all microbenchmarks
#   --to        where results go; by default results/<gpu>, as results/h200
#   --work      where it notes what is tuned already; by default out/record/<gpu>
#   --minutes   ends after so long, in the middle of a part; the next call goes on there. By default when all is done
#   --seconds   cap on the timed part of a group; by default each study's
#   --dirty     records with a program of uncommitted sources, too: every file and page says so
#   APP...      only these; by default all apps, the microbenchmarks and the twin
#
# Where Nsight Compute may count, the first paper size of each app is counted, too. The order is that of worth: the
# sizes of README first, the microbenchmarks and the sweep last. Finished parts are not measured again, even if the
# code has changed since: remove their file then (a test says which are of older code). A wrong result is kept in its
# file, is told at the end, and gives the exit status 1. An app that could not be tuned, because another process
# computed on the GPU, is not measured: the next call tunes it again. Exit statuses are amasia's; 130: the time was
# over, call it again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf 'record: %s\n' "$*" >&2; }
fail() {
  printf 'record: error: %s\n' "$*" >&2
  exit 2
}

program=build/sm90/amasia to="" work="" minutes="" seconds=() apps=() dirty=""
positive() { [[ ${2-} =~ ^[0-9]{1,5}(\.[0-9]{1,3})?$ && $2 =~ [1-9] ]] || fail "$1 takes a positive number, not '${2-}'"; }
while [[ $# -gt 0 ]]; do
  case $1 in
    --program | --to | --work)
      [[ -n ${2-} ]] || fail "$1 takes a path"
      printf -v "${1#--}" %s "$2"
      shift
      ;;
    --minutes) positive "$@" && minutes=$2 && shift ;;
    --dirty) dirty=yes ;;
    --seconds) positive "$@" && seconds=(--seconds "$2") && shift ;;
    -h | --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' scripts/record.sh && exit 0 ;;
    -*) fail "there is no option $1: see --help" ;;
    *) apps+=("$1") ;;
  esac
  shift
done
[[ -x $program ]] || fail "there is no program $program: build one with" \
  "cmake --preset sm90 && cmake --build build/sm90 --target amasia, or name another with --program"
# What the program has: its apps, those among them with schedules, and the questions of its microbenchmarks.
{ read -r known && read -r crossed && read -r questions && read -r main_sizes && read -r commit state; } < <("$program" list --json | python3 -c '
import json, sys
has = json.load(sys.stdin)
print(*(app["name"] for app in has["apps"]))
print(*(app["name"] for app in has["apps"] if app["schedules"]))
print(*sorted({m["name"].split("/")[0] for m in has["microbenchmarks"]} - {"ceilings"}))
print(*(app["name"] + ":" + app["sizes"]["paper"][0] for app in has["apps"] if app["sizes"]["paper"]))
print(has["commit"], "dirty" if has["dirty"] else "clean")
') || fail "$program does not tell what it has (list --json)"
# A record names the commit that made it. One of other sources can never be made again.
if [[ $state == dirty || $commit == unknown ]]; then
  [[ -n $dirty ]] || fail "$program was built from sources that no commit has (commit $commit, $state):" \
    "commit them and build again, or say --dirty and every page will say so"
fi
if [[ ${#apps[@]} == 0 ]]; then
  read -ra apps <<<"$known"
else
  questions=""
fi
for app in "${apps[@]}"; do
  [[ " $known " == *" $app "* ]] || fail "$program has no app $app; it has: $known"
done

# "GPU 0: NVIDIA H100 80GB HBM3, compute capability 9.0, ..." -> h100-80gb-hbm3
doctor=$("$program" doctor) || exit $?
gpu=$(sed -n 's/^GPU 0: \(NVIDIA \)\{0,1\}\([^,]*\),.*/\2/p' <<<"$doctor")
[[ -n $to ]] || to=results/$(tr '[:upper:]' '[:lower:]' <<<"$gpu" | tr -cs 'a-z0-9\n' - | sed 's/-$//')
[[ -n $work ]] || work=out/record/$(basename "$to")
mkdir -p "$to" "$work" || fail "cannot write there: give other folders by --to and --work"
[[ $state == clean && $commit != unknown ]] ||
  say "recording with sources that no commit has: every page made of these files says so"
say "$gpu, into $to${minutes:+, for $minutes minutes}"

status=0
[[ -z $minutes ]] || end=$(awk "BEGIN { printf \"%d\", $(date +%s) + 60 * $minutes + 0.5 }")
# measure WHAT ARGUMENT...: one call of the program, within the time that is left.
measure() {
  local what=$1 limit=() command
  ended=0
  shift
  command="$program $*" # of hundreds of kernels as long as they are
  if [[ -n $minutes ]]; then
    local left=$((end - $(date +%s)))
    [[ $left -gt 0 ]] || stop "$what"
    # It keeps what is finished when it is interrupted, and is ended if it does not end.
    limit=(timeout --foreground --signal=INT --kill-after=60 "$left")
  fi
  say "$what: ${command:0:200}"
  "${limit[@]}" "$program" "$@" >/dev/null || ended=$?
  case $ended in
    0) ;;
    1) status=1 ;;
    4) [[ $status == 1 ]] || status=4 ;;
    124 | 130 | 137) stop "$what" ;;
    *)
      say "$what ended with status $ended"
      exit "$ended"
      ;;
  esac
}
stop() {
  say "the time is over in $1: the same command goes on there"
  exit 130
}

# once NAME APP COMMAND...: what leaves no file of its own is done once for the code of the app as it is.
once() {
  local done=$work/$1-$2 code
  code=$("$program" list --sources | grep "\"$2[/\"]" || sha256sum "$program")
  [[ $(cat "$done" 2>/dev/null) != "$code" ]] || return 0
  measure "$1 $2" "${@:3}"
  [[ $ended == 4 ]] || printf '%s\n' "$code" >"$done"
}
untuned=" "
tune() {
  local app
  for app in "${apps[@]}"; do
    ended=0
    # Not what an earlier preset tuned: its winners have been measured since.
    once "tune-$1" "$app" tune "$app" --missing --preset "$1" --tuning "$to/tuning.json" "${seconds[@]}"
    [[ $ended != 4 ]] || untuned+="$app "
  done
}
# waits WHAT APP: not without all its winners.
waits() {
  [[ $untuned == *" $2 "* ]] || return 1
  say "$1 of $2 is left to the next call: it could not be tuned"
}
# study NAME: a file for each app, with the winners of the tuner.
study() {
  local app
  for app in "${apps[@]}"; do
    ! waits "$1" "$app" || continue
    measure "$1 of $app" study "$1" "$app" --strict --tuning "$to/tuning.json" --records "$to" "${seconds[@]}" \
      --out "$to/$1-$app.json.gz" --resume
  done
}

tune quick
study quick
tune paper
study paper
for app in "${apps[@]}"; do
  [[ " $crossed " == *" $app "* ]] || continue # its configs are not divided into schedule and movement
  ! waits cross "$app" || continue
  measure "cross of $app" run "$app" --roles cross --launch graph --strict --tuning "$to/tuning.json" --records "$to" "${seconds[@]}" \
    --out "$to/cross-$app.json.gz" --resume
done
for main_size in $main_sizes; do
  app=${main_size%%:*} before=$status
  [[ " ${apps[*]} " == *" $app "* ]] || continue
  ! waits counters "$app" || continue
  # Without Nsight Compute, or without permission, it says so and there are no counters.
  measure "counters of $app" profile "$app" --size "${main_size#*:}" --tuning "$to/tuning.json" \
    --out "$to/profile-$app.json.gz" --resume
  status=$before # what is wrong was found where it was timed
done
for question in $questions; do
  effort=()
  [[ $question != twin ]] || effort=(--max-rounds 11)
  measure "$question" run "$question/*" --strict --preset paper --records "$to" "${effort[@]}" \
    --out "$to/$question.json.gz" --resume
done
if [[ " $questions " == *" twin "* ]]; then
  # Those that predict a new kernel, and those that measure how accurate such predictions are.
  for which in random unseen; do
    option=() traits=()
    [[ $which == random ]] || option=(--unseen)
    while read -r kernel; do traits+=(--traits "$kernel"); done \
      < <(python3 -m plots.advice.drawn_twins "${option[@]}")
    [[ ${#traits[@]} != 0 ]] || fail "python3 -m plots.advice.drawn_twins named no kernels"
    measure "random twins ($which)" run twin "${traits[@]}" --strict --records "$to" --max-rounds 11 \
      --out "$to/twin-$which.json.gz" --resume
  done
fi
tune sweep
study sweep
if [[ $status == 0 ]]; then
  say "all of it is in $to; CONTRIBUTING.md says which pages are made of it"
else
  say "what was measured is in $to, but a result was wrong or a measurement invalid: status $status, see above"
fi
exit "$status"
