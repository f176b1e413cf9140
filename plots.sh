#!/usr/bin/env bash
# python -m plots of this clone, in any folder and without activating an environment:
#
#   ./plots.sh report results --out report.html     paths are those of the folder it is called in
#   ./plots.sh --help                               which commands there are
set -euo pipefail
root=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
if [[ ! -f $root/.venv/amasia-stamp && ! -x $root/.venv/bin/amasia-plots ]]; then
  printf 'plots.sh: error: there are no Python packages in %s/.venv yet: run %s/run.sh first\n' "$root" "$root" >&2
  exit 2
fi
# -P: not what happens to be called plots in that folder.
export AMASIA_PLOTS_CALLED=$0  # its name in help texts
PYTHONPATH=$root${PYTHONPATH:+:$PYTHONPATH} exec "$root/.venv/bin/python" -P -m plots "$@"
