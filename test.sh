#!/usr/bin/env bash
# Sets up as run.sh does, builds for one architecture and runs the tests. Tests that need a GPU, Slurm or a
# browser are skipped where there is none.
#
#   ./test.sh          for 9.0a, and for the GPU that is here
#   ./test.sh --all    for 8.0 and 10.0 as well, and fuzzes for longer
#
# The last line counts them all. Exit code 0: nothing failed and something passed. 2: usage. 3: there is a
# GPU, and nvidia-smi fails.
set -euo pipefail
preset=ci
if [[ ${1-} == --all ]]; then
  preset=ci_all
  export AMASIA_FUZZ_RUNS=20 HYPOTHESIS_PROFILE=thorough
  shift
fi
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh" tests "$@"

# On a machine with a GPU that can be built for, the tests must have code for it, too, and those that
# run on it for nothing else.
architectures="" options=()
if [[ -n $gpu_capability && -z $gpu_obstacle && $gpu_capability != 90 ]]; then
  options=("-DAMASIA_GPU_TEST_ARCHITECTURES=$gpu_capability-real" -DAMASIA_CLUSTERS_ONLY=)
  case $preset-$gpu_capability in
    ci_all-80 | ci_all-100) ;; # the preset's
    ci_all-*) architectures="80-real;90a-real;100-real;$gpu_capability-real" ;;
    *) architectures="90a-real;$gpu_capability-real" ;;
  esac
fi
status=0
configure_and_build "$preset" "$architectures" all "${options[@]}"
wait_for_python

export AMASIA_BUILD=$PWD/build/$preset # where the Python tests find amasia
ctest_report=$AMASIA_BUILD/ctest.xml pytest_report=$AMASIA_BUILD/pytest.xml
case_reports=$AMASIA_BUILD/tests/reports
rm -rf "$ctest_report" "$pytest_report" "$case_reports"
# References that several threads compute: what waits for the others leaves the processor to other tests.
export OMP_WAIT_POLICY=passive
ctest --test-dir "$AMASIA_BUILD" --parallel "$(nproc)" --timeout 900 --output-on-failure \
  --output-junit "$ctest_report" || status=1
# Several at a time only where none of them can measure; one more than processors, because some wait for
# clusters and servers.
workers=0
[[ -n $gpu_capability ]] || workers=$(($(nproc) + 1))
python -m pytest -n "$workers" --dist loadfile --no-loadscope-reorder --junitxml "$pytest_report" || status=1
counted=("$ctest_report" "$case_reports" "$pytest_report")
python scripts/test_summary.py --programs "${counted[@]}" || status=1
exit $status
