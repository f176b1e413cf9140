#!/usr/bin/env bash
# Runs compute-sanitizer over the verification of every variant, and prints errors per variant and tool.
#
#   scripts/sanitize.sh [-b BINARY] [-t TOOLS] [-p PRESET] [-z SIZE] [-j JOBS] [-s SECONDS] [-o FOLDER] [PATTERN...]
#
#   -b  the amasia to run (the newest build/*/amasia)
#   -t  tools, separated by commas (memcheck,racecheck,initcheck,synccheck)
#   -p  sizes to verify at (smoke: the small and odd ones)
#   -z  one size instead, for the variants of one app, e.g. rows=131,cols=4099 (repeatable)
#   -j  runs at the same time on the one GPU (4)
#   -s  limit of one run in seconds (300); what a run that is ended leaves on the GPU is ended, too
#   -o  folder for the logs and for summary.md (out/sanitizer)
#   PATTERN  variants by glob, as for amasia (all)
#
# Exit code 0: each chosen variant was verified under each tool without an error; a variant that the
# device cannot run counts as skipped. 1: errors, a wrong result, or a run that did not finish. 2: usage.
# 3: no compute-sanitizer.
set -euo pipefail

fail() {
  printf 'sanitize.sh: %s\n' "$2" >&2
  exit "$1"
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
binary="" tools=memcheck,racecheck,initcheck,synccheck preset=smoke jobs=4 seconds=300
folder=$root/out/sanitizer sizes=()
while getopts b:t:p:z:j:s:o:h-: option; do
  [[ $option != - || $OPTARG != help ]] || option=h
  case $option in
    b) binary=$OPTARG ;;
    t) tools=$OPTARG ;;
    p) preset=$OPTARG ;;
    z) sizes+=(--size "$OPTARG") ;;
    j) jobs=$OPTARG ;;
    s) seconds=$OPTARG ;;
    o) folder=$OPTARG ;;
    h) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 0 ;;
    -) fail 2 "there is no option --$OPTARG: see --help" ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
((${#sizes[@]})) || sizes=(--preset "$preset")

[[ $jobs,$seconds =~ ^[1-9][0-9]*,[1-9][0-9]*$ ]] || fail 2 "-j and -s take positive numbers: see --help"
[[ $tools, =~ ^((mem|race|init|sync)check,)+$ ]] || fail 2 "-t takes some of memcheck,racecheck,initcheck,synccheck"
IFS=, read -ra tools <<<"$tools"
if [[ -z $binary ]]; then
  # shellcheck disable=SC2012 # names that the presets give
  binary=$(ls -t "$root"/build/*/amasia 2>/dev/null | head -n 1 || true)
  [[ -n $binary ]] || fail 2 "no build/*/amasia: build one (./run.sh) or name it with -b"
fi
[[ -x $binary ]] || fail 2 "$binary is not an executable"
sanitizer=$(PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin:/usr/local/cuda/bin \
  command -v compute-sanitizer) ||
  fail 3 "no compute-sanitizer on PATH or in the CUDA toolkit: it is part of NVIDIA's full toolkit"

listing=$("$binary" list "$@") || exit 2
# By its own count synccheck expects too few mbarriers of a block, and what overflows its table ends the kernel
# (2025.3, hotspot/dsm). Older ones have no such option.
barriers=()
if "$sanitizer" --help 2>/dev/null | grep -q -- --num-cuda-barriers; then barriers=(--num-cuda-barriers 4096); fi
mapfile -t variants < <(sed -nE 's@^  ([a-z0-9_]+/[a-z0-9_]+) .*@\1@p' <<<"$listing")
((${#variants[@]})) || fail 2 "no variant matches: $*"
mkdir -p "$folder"

# end_marked MARK: ends every process that has this in its environment.
end_marked() {
  local environment
  for environment in /proc/[0-9]*/environ; do
    if grep -qz "^AMASIA_SANITIZED=$1" "$environment" 2>/dev/null; then
      kill -KILL "$(basename "$(dirname "$environment")")" 2>/dev/null || true
    fi
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
    "$binary" verify --in-process "${sizes[@]}" "$variant" >"$log.out" 2>&1 || status=$?
  # compute-sanitizer that is ended leaves the program at work (6 of 10, on an H100).
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
  printf '%-10s %-28s %s\n' "$tool" "$variant" "$cell" >&2
}

# A run left behind would hold the GPU: whatever ends this script ends its runs.
trap 'trap - TERM; kill -- $(jobs -p) 2>/dev/null || true; end_marked "$$-"; exit 1' INT TERM

printf 'sanitize.sh: %s, %d variants, tools: %s\n' "$binary" ${#variants[@]} "${tools[*]}" >&2
for tool in "${tools[@]}"; do
  for variant in "${variants[@]}"; do
    while (($(jobs -rp | wc -l) >= jobs)); do wait -n || true; done
    check "$tool" "$variant" &
  done
done
wait

{
  printf '| variant |%s\n|---|%s\n' "$(printf ' %s |' "${tools[@]}")" "$(printf '%.0s---|' "${tools[@]}")"
  for variant in "${variants[@]}"; do
    printf '| %s |' "$variant"
    for tool in "${tools[@]}"; do
      printf ' %s |' "$(cat "$folder/$tool-${variant/\//-}.cell" 2>/dev/null || echo "did not run")"
    done
    printf '\n'
  done
} >"$folder/summary.md"
cat "$folder/summary.md"
bad=$(awk -F'|' 'NR > 2 { for (i = 3; i < NF; ++i) bad += $i !~ /^ (0|skipped) $/ } END { print bad + 0 }' \
  "$folder/summary.md")
printf '%d of %d runs with errors; logs in %s\n' "$bad" $((${#variants[@]} * ${#tools[@]})) "$folder"
((bad == 0))
