#!/usr/bin/env bash
# Runs clang-tidy (.clang-tidy) over the host code but the tests: all of it at first, then what has changed.
#
#   scripts/tidy.sh
#
# CMake runs it beside the compiler, in build/tidy. The version that pyproject.toml pins is installed into .venv
# on the first run. Exit code 0: nothing found. 2: usage.
set -euo pipefail
case ${1-} in
  "") ;;
  -h | --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 0 ;;
  *) echo "tidy: error: there is no argument '$1': see --help" >&2 && exit 2 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tool=$PWD/.venv/bin/clang-tidy
[[ -x $tool ]] || .venv/bin/python -m pip install --quiet "$(sed -n 's/^tidy = \["\(.*\)"\]$/\1/p' pyproject.toml)"
# The wheel has no headers of its own compiler; those of g++ serve, which has warnings and parameters of its own.
# Sources that are compiled as one include each other and see each other's aliases. (g++ warns of shadows.)
checks="$tool;--quiet;--checks=-bugprone-suspicious-include;--extra-arg=-isystem$(g++ -print-file-name=include)"
checks+=";--extra-arg=-Wno-unknown-warning-option;--extra-arg=-Qunused-arguments;--extra-arg=-Wno-shadow"
cmake --preset cpu -B build/tidy -DAMASIA_TESTS=OFF "-DCMAKE_CXX_CLANG_TIDY=$checks" >&2
cmake --build build/tidy -- -k 0
