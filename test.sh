#!/usr/bin/env bash
# Sets up as run.sh does, builds the preset ci and runs every test; tests that need a GPU are skipped
# where there is none. The last line counts them all. Exit code 0: nothing failed and something passed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=scripts/setup.sh
source scripts/setup.sh tests

# On a machine with a GPU that can be built for, the tests must have code for it, too, and those that
# run on it for nothing else.
architectures="" options=()
if [[ -n $gpu_capability && -z $gpu_obstacle ]]; then
  case $gpu_capability in
    75 | 80 | 100) options=("-DAMASIA_GPU_TEST_ARCHITECTURES=$gpu_capability-real") ;;
    90) ;; # the preset's
    *)
      architectures="75-real;80-real;90a-real;100-real;$gpu_capability-real"
      options=("-DAMASIA_GPU_TEST_ARCHITECTURES=$gpu_capability-real")
      ;;
  esac
fi
# The V100's compiler is fetched while others compile; whether it is there shows below.
scripts/volta.sh --toolkit >/dev/null 2>&1 &
volta_toolkit=$!
configure_and_build ci "$architectures" all "${options[@]}"
wait_for_python
wait "$volta_toolkit" || true

status=0
scripts/volta.sh || [[ $? == 3 ]] || status=1 # without a CUDA 12 toolkit its tests are skipped

export AMASIA_BUILD=$PWD/build/ci # where the Python tests find amasia
ctest_report=$AMASIA_BUILD/ctest.xml pytest_report=$AMASIA_BUILD/pytest.xml
rm -f "$ctest_report" "$pytest_report"
ctest --test-dir "$AMASIA_BUILD" --parallel "$(nproc)" --timeout 600 --output-on-failure \
  --output-junit "$ctest_report" || status=1
# Several at a time only where none of them can measure.
workers=0
[[ -n $gpu_capability ]] || workers=$(nproc)
python -m pytest -n "$workers" --dist loadfile --junitxml "$pytest_report" || status=1
python scripts/test_summary.py "$ctest_report" "$pytest_report" || status=1
exit $status
