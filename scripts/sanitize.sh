#!/usr/bin/env bash
# Runs compute-sanitizer over the verification of every variant, and prints errors per variant and tool.
#
#   scripts/sanitize.sh [-b BINARY] [-t TOOLS] [-j JOBS] [PATTERN...]
#
#   -b  the amasia to run (the newest build/*/amasia)
#   -t  tools, separated by commas (memcheck,racecheck,initcheck,synccheck)
#   -j  runs at the same time on the one GPU (4)
#   PATTERN  variants by glob, as for amasia (all)
#
# Logs go to out/sanitizer. Exit code 0: each chosen variant was verified under each tool without an error;
# a variant that the device cannot run counts as skipped. 1: errors, a wrong result, or a run that did not
# finish within $AMASIA_SANITIZE_SECONDS (300). 2: usage. 3: no compute-sanitizer.
set -euo pipefail

fail() {
  printf 'sanitize.sh: %s\n' "$2" >&2
  exit "$1"
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
binary="" tools=memcheck,racecheck,initcheck,synccheck jobs=4
seconds=${AMASIA_SANITIZE_SECONDS:-300} folder=${AMASIA_SANITIZE_FOLDER:-$root/out/sanitizer}
while getopts b:t:j:h-: option; do
  [[ $option != - || $OPTARG != help ]] || option=h
  case $option in
    b) binary=$OPTARG ;;
    t) tools=$OPTARG ;;
    j) jobs=$OPTARG ;;
    h) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 0 ;;
    -) fail 2 "there is no option --$OPTARG: see --help" ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
# shellcheck disable=SC2012 # names that the presets give
[[ -n $binary ]] || binary=$(ls -t "$root"/build/*/amasia 2>/dev/null | head -n 1)
[[ -x $binary ]] || fail 2 "no program ${binary:-build/*/amasia}: build one (./run.sh) or name it with -b"
sanitizer=$(PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin:/usr/local/cuda/bin \
  command -v compute-sanitizer) ||
  fail 3 "no compute-sanitizer on PATH or in the CUDA toolkit: it is part of NVIDIA's full toolkit"
listing=$("$binary" list "$@") || exit 2
mapfile -t variants < <(sed -nE 's@^  ([a-z0-9_]+/[a-z0-9_]+) .*@\1@p' <<<"$listing")
((${#variants[@]})) || fail 2 "no variant matches: $*"
# By its own count synccheck expects too few mbarriers of a block, and what overflows its table ends the kernel
# (2025.3, hotspot/dsm). Older ones have no such option.
barriers=()
if "$sanitizer" --help 2>/dev/null | grep -q -- --num-cuda-barriers; then barriers=(--num-cuda-barriers 4096); fi
mkdir -p "$folder"

# end_marked MARK: ends every process that has this in its environment. compute-sanitizer that is ended leaves the
# program at work (6 of 10, on an H100).
end_marked() {
  local environment
  # shellcheck disable=SC2013 # paths without blanks
  for environment in $(grep -lz "^AMASIA_SANITIZED=$1" /proc/[0-9]*/environ 2>/dev/null); do
    kill -KILL "$(basename "$(dirname "$environment")")" 2>/dev/null || true
  done
}

# check TOOL VARIANT: writes the table's cell, one word or a few, to FOLDER/TOOL-APP-STRATEGY.cell.
check() {
  local tool=$1 variant=$2 log=$folder/$1-${2/\//-} status=0 options=() errors cell
  # initcheck judges reads of global memory; memcheck also what was never freed.
  [[ $tool != memcheck ]] || options+=(--leak-check full)
  [[ $tool != synccheck ]] || options+=("${barriers[@]}")
  rm -f "$log".*
  AMASIA_SANITIZED=$$-$tool-$variant. timeout "$seconds" "$sanitizer" --tool "$tool" "${options[@]}" \
    --target-processes application-only --error-exitcode 99 --log-file "$log.log" \
    "$binary" verify --in-process --preset smoke "$variant" >"$log.out" 2>&1 || status=$?
  [[ $status != 124 ]] || end_marked "$$-$tool-$variant\\."
  # "ERROR SUMMARY: 2 errors", or "RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)"
  errors=$(sed -nE 's/.*(ERROR|RACECHECK) SUMMARY: ([0-9]+) .*/\2/p' "$log.log" 2>/dev/null | tail -n 1) || true
  case $status,${errors:-none} in
    124,*) cell="over $seconds s" ;;
    *,none) cell="did not run" ;;
    99,* | *,[1-9]*) cell="$errors errors" ;;
    0,0)
      cell="nothing ran"
      ! grep -qE '^[1-9][0-9]* ok, 0 failed' "$log.out" || cell=0
      ! grep -qE '^0 ok, 0 failed, [1-9][0-9]* skipped' "$log.out" || cell=skipped
      ;;
    *) cell="exit $status" ;;
  esac
  echo "$cell" >"$log.cell"
}

# A run left behind would hold the GPU: whatever ends this script ends its runs.
trap 'trap - TERM; kill -- $(jobs -p) 2>/dev/null || true; end_marked "$$-"; exit 1' INT TERM
for tool in ${tools//,/ }; do
  for variant in "${variants[@]}"; do
    while (($(jobs -rp | wc -l) >= jobs)); do wait -n || true; done
    check "$tool" "$variant" &
  done
done
wait

bad=0
printf '| variant | %s |\n' "${tools//,/ | }"
for variant in "${variants[@]}"; do
  printf '| %s |' "$variant"
  for tool in ${tools//,/ }; do
    cell=$(cat "$folder/$tool-${variant/\//-}.cell" 2>/dev/null || echo "did not run")
    [[ $cell == 0 || $cell == skipped ]] || bad=$((bad + 1))
    printf ' %s |' "$cell"
  done
  printf '\n'
done
printf '%d runs with errors; logs in %s\n' "$bad" "$folder"
((bad == 0))
