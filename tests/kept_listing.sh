#!/usr/bin/env bash
# cuobjdump for tests. The listing of a file for sm_90a is kept beside it, as <file>.sass, until the file changes:
# signature_test and two tests in Python read those of the same kernels, and a disassembler takes longer than any of
# them.
#
#   tests/kept_listing.sh -sass -arch ARCHITECTURE FILE
set -euo pipefail

cuobjdump=$(type -P cuobjdump || true)
if [[ -z $cuobjdump ]]; then
  nvcc=$(readlink -f "$(type -P nvcc || echo /usr/local/cuda/bin/nvcc)")
  cuobjdump=${nvcc%/*}/cuobjdump
fi
file=${!#}
# A cubin is for one architecture; that of sm_90a is listed under sm_90, too.
if [[ $* != "-sass -arch sm_90"?(a)" $file" || $file != *.cubin ]]; then
  exec "$cuobjdump" "$@"
fi
kept=$file.sass
if [[ ! $kept -nt $file ]]; then
  part=$(mktemp "$kept.XXXXXX")
  trap 'rm -f "$part"' EXIT
  "$cuobjdump" "$@" >"$part"
  [[ -s $part ]] || exit 1
  mv "$part" "$kept"
fi
exec cat "$kept"
