#!/usr/bin/env bash
# Sets up, builds and does the main job. With a GPU: the quick study (all variants verified, timed and
# compared), then its report. Without one, and without CUDA: every CPU reference on small inputs, and
# beside it the report of the recorded results. Either way the answer is report.html.
#
#   ./run.sh             the GPU is CUDA's first; CUDA_VISIBLE_DEVICES chooses another, or none if it is empty
#
# What is missing is installed first: system packages by apt-get, the rest into .venv and .cuda here.
# Exit codes are those of amasia; 2: usage; 3: there is a GPU, and it cannot be used.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh" answer "$@"

note() { printf '\nrun.sh: %s\n' "$*" >&2; }

if [[ -n $gpu_capability && -n $gpu_obstacle ]]; then
  note "there is a GPU ($gpu_name), but no compiler for it: $gpu_obstacle."
  note "Install a driver for CUDA 13 (580 or newer), or a CUDA 12 toolkit (12.4 or newer) for an older" \
    "driver or GPU, then run this again."
  exit 3
fi

if [[ -z $gpu_capability ]]; then
  note "no GPU here: checking every CPU reference, and reporting the recorded results of results/"
  (
    configure_and_build cpu "" amasia-references --first -DAMASIA_TESTS=OFF -DAMASIA_GBENCH=OFF
    build/cpu/amasia-references
  ) &
  references=$!
  status=0
  wait_for_python
  python -m plots report results --out report.html || status=$?
  wait "$references" || status=$?
  if [[ $status != 0 ]]; then
    note "checking the references or reporting ended with status $status"
    exit "$status"
  fi
  note "cmake --build build/cpu builds amasia itself: build/cpu/amasia doctor says what works without a GPU"
else
  case $gpu_capability in
    70 | 80 | 90) preset=sm$gpu_capability architectures="" ;;
    *) preset=native architectures=$gpu_capability-real ;;
  esac
  note "building preset $preset${architectures:+ for $architectures}"
  # What the study needs: its floors come from the ceilings, the other microbenchmarks are not run.
  configure_and_build "$preset" "$architectures" amasia --first -DAMASIA_TESTS=OFF -DAMASIA_GBENCH=OFF \
    -DAMASIA_MICROBENCHMARKS=ceilings -DAMASIA_LINE_NUMBERS=OFF
  mkdir -p out
  # NVIDIA H100 80GB HBM3 -> h100-80gb-hbm3
  name=$(tr '[:upper:]' '[:lower:]' <<<"${gpu_name#NVIDIA }" | tr -cs 'a-z0-9\n' -)
  result=out/${name%-}-quick.json.gz
  note "a first look at $gpu_name: every variant verified, timed and compared; amasia study quick takes longer"
  wait_for_python # an installation beside the study would disturb its times
  status=0
  "build/$preset/amasia" study quick --launch stream --max-rounds 15 --out "$result" \
    --overwrite || status=$?
  # A wrong result or an invalid measurement is in the file too, and the report shows it.
  if [[ $status == [14] && -f $result ]] || [[ $status == 0 ]]; then
    python -m plots report "$result" --out report.html
  fi
  if [[ $status != 0 ]]; then
    note "amasia study quick ended with status $status"
    exit "$status"
  fi
fi
note "done: open report.html. For more of the same: ./plots.sh --help"
