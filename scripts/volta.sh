#!/usr/bin/env bash
# Compiles every CUDA file for the V100 (sm_70), which CUDA 13 no longer knows, with a CUDA 12 toolkit.
#
#   scripts/volta.sh [--toolkit]
#
# --toolkit: only finds or fetches the toolkit.
# The toolkit is the first nvcc 12.4 to 12.9 of $CUDA12_HOME, /usr/local/cuda-12*, PATH. Where there is
# none, Debian's nvcc 12.4 is unpacked under .cuda/volta, without installing it, from the mirror that
# apt-get is set up for, with the headers from NVIDIA's wheels: it compiles, and cannot link.
# PTX and machine code end up in build/volta/code/<folder>/, as those of other builds do in theirs, and
# the tests check the signatures there. What is up to date is not compiled again.
#
# Exit code 0: everything compiles. 1: something does not. 2: usage. 3: there is no CUDA 12 toolkit to be had.
set -euo pipefail

say() { printf 'volta: %s\n' "$*" >&2; }

case ${1-} in
  -h | --help)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  --toolkit) [[ $# == 1 ]] ;;
  *) [[ $# == 0 ]] ;;
esac || {
  say "error: --toolkit is the only option: see --help"
  exit 2
}
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Of the right release, and with a header of each part of a toolkit.
usable() {
  local probe says status=0
  "$1" --version 2>/dev/null | grep -qE 'release 12\.([4-9]|[1-9][0-9])' || return 1
  probe=$(mktemp --suffix=.cu)
  printf '#include <%s>\n' cuda_runtime.h cuda_profiler_api.h mma.h cuda/pipeline >"$probe"
  says=$("$1" -std=c++17 -E "$probe" 2>&1 >/dev/null) || status=1
  rm -f "$probe"
  [[ $status == 0 ]] || say "passing over $1: $(grep -m 1 -i error <<<"$says")"
  return "$status"
}

find_toolkit() {
  local candidate
  for candidate in "${CUDA12_HOME:+$CUDA12_HOME/bin/nvcc}" /usr/local/cuda-12*/bin/nvcc \
    "$(type -P nvcc || true)" "$PWD/.cuda/volta/bin/nvcc"; do
    if [[ -x $candidate ]] && usable "$candidate"; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

# Fetches Debian 13's package and the wheels, and lays them out as nvcc expects a toolkit.
fetch_toolkit() {
  local keyring=/usr/share/keyrings/debian-archive-keyring.gpg mirror work
  command -v apt-get >/dev/null && [[ -f $keyring ]] || return 1
  # shellcheck disable=SC2016 # apt-get's own variable
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null |
    awk '/\/debian\/?$/ && !found++')
  [[ -n $mirror ]] || return 1
  work=$PWD/.cuda/volta.part
  rm -rf "$work"
  mkdir -p "$work"/{lists/partial,archives/partial,bin,lib,include,nvvm/bin,nvvm/libdevice}
  echo "deb [signed-by=$keyring] $mirror trixie non-free" >"$work/sources.list"
  local apt=(apt-get -qq -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=-
    -o Dir::State::Lists="$work/lists" -o Dir::Cache::archives="$work/archives"
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o Acquire::Check-Valid-Until=false
    -o APT::Sandbox::User=root)
  say "fetching nvcc 12.4 of Debian 13 and its headers into .cuda/volta"
  "${apt[@]}" update >&2 || return 1
  (cd "$work" && "${apt[@]}" download nvidia-cuda-toolkit >&2) || return 1
  dpkg -x "$work"/nvidia-cuda-toolkit_*.deb "$work/debian"
  mapfile -t wheels < <(.venv/bin/python -c 'import tomllib
project = tomllib.load(open("pyproject.toml", "rb"))["project"]
print("\n".join(project["optional-dependencies"]["volta"]))')
  PIP_USER=0 .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
    --target "$work/wheels" "${wheels[@]}" >&2 || return 1

  local usr=$work/debian/usr
  cp "$usr"/bin/{cudafe++,ptxas,fatbinary,nvlink,bin2c,cuobjdump,nvdisasm} \
    "$usr/lib/nvidia-cuda-toolkit/bin/nvcc" "$work/bin/"
  cp -r "$usr/lib/nvidia-cuda-toolkit/bin/crt" "$work/bin/"
  cp "$usr/lib/nvidia-cuda-toolkit/bin/cicc" "$work/nvvm/bin/"
  cp "$usr/lib/nvidia-cuda-toolkit/libdevice/"* "$work/nvvm/libdevice/"
  cp -r "$work"/wheels/nvidia/{cuda_runtime,cuda_nvcc,cuda_cccl,cuda_profiler_api}/include/. "$work/include/"
  cat >"$work/bin/nvcc.profile" <<'PROFILE'
TOP                = $(_HERE_)/..
CICC_PATH          = $(TOP)/nvvm/bin
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH              += $(TOP)/nvvm/bin:$(_HERE_):
INCLUDES          += "-I$(TOP)/include" $(_SPACE_)
PROFILE
  rm -rf "$work"/{debian,wheels,lists,archives,sources.list} "$work"/*.deb .cuda/volta
  mv "$work" .cuda/volta
}

nvcc=$(find_toolkit) || { fetch_toolkit && nvcc=$(find_toolkit); } || {
  rm -rf .cuda/volta.part
  say "no CUDA 12 toolkit (12.4 or newer) here, and Debian's could not be fetched:" \
    "name one in CUDA12_HOME"
  exit 3
}
[[ ${1:-} != --toolkit ]] || exit 0
version=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
say "compiling for sm_70 with nvcc $version ($nvcc)"

# What needs a vendor library's headers, itself or through those of its folder, is left out: the headers here
# belong to another toolkit, and comparators are written against a newer one. Microbenchmarks are compiled
# several at a time, as other builds do.
build=build/volta
mkdir -p "$build"
mapfile -t sources < <(find apps microbench harness/gpu -name '*.cu' | sort | while read -r file; do
  grep -q register_comparator "$file" && continue
  grep -qsE '#include <cu(blas|solver)' "$file" "$(dirname "$file")"/*.cuh && continue
  echo "$file"
done)
microbenchmarks=$(printf '%s\n' "${sources[@]}" | sed -n '/^microbench/p' | paste -sd ';')
cmake "-DFOLDER=$PWD/$build/microbench/units" "-DSOURCES=$microbenchmarks" -P cmake/units.cmake

# Ninja knows what is out of date.
# 20050: nvcc 12 remarks that it ignores "inline" on a kernel in a header; newer ones take it.
# -Xcicc -O1: a third less of the time, -Xptxas -O0: another twentieth, and nothing of this runs. A baseline is
# compiled as for a GPU, because its signature, an early load into registers, is made by the optimiser.
# -cubin: the device compiler reads and checks the host code, too, but none is generated, as none could
# be linked.
{
  cat <<RULES
builddir = $build
rule nvcc
  command = $nvcc -I. -std=c++17 -arch=sm_70 -DNDEBUG --expt-relaxed-constexpr \$
    -Werror=all-warnings --diag-suppress=20050 \$optimiser --keep --keep-dir=\$folder -MD -MF \$out.d -cubin \$in -o \$out
  depfile = \$out.d
  deps = gcc
  description = sm_70 \$in
RULES
  for file in "${sources[@]}" "$build"/microbench/units/*.cu; do
    [[ $file != microbench/* ]] || continue # in the units
    name=${file#"$build"/}
    printf 'build %s: nvcc %s\n  folder = %s\n' "$build/code/${name%.cu}.cubin" "$file" \
      "$build/code/$(dirname "$name")"
    [[ $name == */baseline.cu ]] || printf '  optimiser = -Xcicc -O1 -Xptxas -O0\n'
    mkdir -p "$build/code/$(dirname "$name")"
  done
} >"$build/build.ninja"
exec ninja -f "$build/build.ninja" >&2
