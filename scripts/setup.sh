#!/usr/bin/env bash
# Makes a Debian or Ubuntu machine ready to build and run Amasia: system packages, a private Python
# environment (.venv) and, where no CUDA toolkit fits, nvcc from NVIDIA's wheels (.cuda). Only what is
# missing is installed, and once everything is there nothing is asked of the network.
#
#   scripts/setup.sh [tests | answer | compile]
#
# tests (the default) prepares for everything. answer prepares for what run.sh does: no libraries for
# tests, and without a GPU no CUDA at all. tests installs Slurm, a browser and the like only where CI is set:
# elsewhere their tests run if they are there. compile installs only the system packages that a build needs, for
# container images.
#
# Exit code 0: ready. 1: something could not be installed. 2: usage. 3: there is a GPU, but nvidia-smi
# fails or CUDA_VISIBLE_DEVICES names another.
#
# run.sh and test.sh source this file with their own arguments behind that word, and get
#   PATH, CUDACXX          .venv, the chosen nvcc and its disassemblers first; CUDACXX is empty without CUDA
#   CUDA_DEVICE_ORDER      PCI_BUS_ID: CUDA's numbers are those of nvidia-smi
#   gpu_name, gpu_capability   of the first visible GPU ("NVIDIA H200", 90); empty without one
#   gpu_obstacle           why no nvcc here can build for that GPU; empty when one can
#   configure_and_build, wait_for_python   functions, below: Python's packages and the disassemblers are still
#                          being installed when this file ends, because nothing that compiles needs them
# Run on its own it only installs.
set -euo pipefail

say() { printf 'setup: %s\n' "$*" >&2; }
# end STATUS WORD...
end() {
  printf 'setup: error: %s\n' "${*:2}" >&2
  exit "$1"
}
fail() { end 1 "$@"; }

# Before anything is installed: what is asked of this script, or of the one that sources it.
purpose=tests
if [[ ${1-} == tests || ${1-} == answer || ${1-} == compile ]]; then
  purpose=$1
  shift
fi
if [[ ${1-} == -h || ${1-} == --help ]]; then
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[-1]}"
  exit 0
elif [[ $# != 0 ]]; then
  end 2 "${BASH_SOURCE[-1]} has no argument '$1': see --help"
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# version_at_least HAVE WANT, both dotted numbers
version_at_least() { [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]; }

# --- System packages -------------------------------------------------------------------------------

# Prints the first Python that is new enough and can make environments: .venv's own where there is one,
# since it may be first on PATH. Debian's python3 without python3-venv cannot: it has the module venv,
# but not ensurepip.
find_python() {
  local candidate
  for candidate in .venv/bin/python python3 /usr/bin/python3 python3.14 python3.13 python3.12 \
    python3.11; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
      2>/dev/null; then
      "$candidate" -c 'import sys; print(getattr(sys, "_base_executable", sys.executable))'
      return
    fi
  done
  return 1
}

# Is the header in the compiler's path, or under a prefix that CMake was told of?
have_header() {
  local prefix flags=()
  for prefix in ${CMAKE_PREFIX_PATH:+${CMAKE_PREFIX_PATH//:/ }}; do
    flags+=("-I$prefix/include")
  done
  printf '#include <%s>\n' "$1" | g++ -std=c++17 -E -x c++ "${flags[@]}" - -o /dev/null 2>/dev/null
}

cmake_version() { cmake --version 2>/dev/null | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p'; }

# missing_packages python|compile|answer|tests: prints the Debian packages of what is missing for that, one a line.
missing_packages() {
  [[ $1 == compile ]] || find_python >/dev/null || echo python3-venv
  [[ $1 != python ]] || return 0
  version_at_least "$(cmake_version)" 3.25 || echo cmake
  command -v ninja >/dev/null || echo ninja-build
  command -v g++ >/dev/null || echo g++
  command -v git >/dev/null || echo git
  have_header fmt/format.h || echo libfmt-dev
  have_header CLI/CLI.hpp || echo libcli11-dev
  have_header nlohmann/json.hpp || echo nlohmann-json3-dev
  have_header nettle/sha2.h || echo nettle-dev
  have_header zlib.h || echo zlib1g-dev
  have_header toml++/toml.h || echo libtomlplusplus-dev
  [[ $1 == tests ]] || return 0
  have_header benchmark/benchmark.h || echo libbenchmark-dev
  [[ -f /usr/share/benchmark/compare.py ]] || echo libbenchmark-tools
  have_header gtest/gtest.h || echo libgtest-dev
}

# Is there a way to root? Without a terminal sudo must do without a password.
can_be_root() {
  [[ $(id -u) == 0 ]] || { command -v sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; }
}

# apt_get WORD...: as root, without questions; apt_said is what it says.
apt_get() {
  local as_root=()
  [[ $(id -u) == 0 ]] || as_root=(sudo)
  apt_said=$("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o DPkg::Lock::Timeout=300 "$@" 2>&1)
}

update_lists() {
  apt_get update || say "apt-get update failed; trying with the lists at hand"
  update_lists() { :; } # once
}

# apt_install PACKAGE...: fails where apt-get does, after the end of what it said.
apt_install() {
  say "installing system packages: $*"
  update_lists
  if ! apt_get install -y --no-install-recommends "$@"; then
    tail -n 20 <<<"$apt_said" >&2
    return 1
  fi
}

install_packages() {
  local missing command
  missing=$(missing_packages "$1" | paste -sd ' ')
  [[ -n $missing ]] || return 0
  command="apt-get install -y --no-install-recommends $missing"

  command -v apt-get >/dev/null ||
    fail "these are missing, by their Debian names, and there is no apt-get here: $missing"
  can_be_root || fail "neither root nor sudo here, and packages are missing; ask for: $command"
  # shellcheck disable=SC2086 # a list of package names
  apt_install $missing || fail "could not install the system packages: $command"
  missing=$(missing_packages "$1" | paste -sd ' ')
  [[ -z $missing ]] || fail "still missing or too old after installation: $missing" \
    "(needed: CMake 3.25, Python 3.11; Debian 12, Ubuntu 24.04 or newer have them)"
}

# install_for_tests WHAT PACKAGE...: what tests are skipped without, where it can be had.
install_for_tests() {
  local what=$1
  shift
  command -v apt-get >/dev/null && can_be_root || return 0
  compgen -G '/var/lib/apt/lists/*Packages*' >/dev/null || update_lists # an image's are often removed
  if ! apt-cache show "$@" >/dev/null 2>&1; then
    say "apt-get has no $*: the tests of $what are skipped"
  else
    apt_install "$@" || say "could not install $*: the tests of $what are skipped"
  fi
}

# --- Python ----------------------------------------------------------------------------------------

# requirements NAME...: one requirement a line; "" stands for the package's own dependencies.
requirements() {
  "$base_python" - "$@" <<'PYTHON'
import sys
import tomllib

with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)["project"]
for name in sys.argv[1:]:
    wanted = project["optional-dependencies"][name] if name else project["dependencies"]
    print("\n".join(wanted))
PYTHON
}

# A setting of the user's, which pip refuses in an environment. It holds for the tests, too.
export PIP_USER=0

# pip_install OPTION...: what is wanted. Bytecode is made when a module is first imported: most never are.
pip_install() {
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile "$@" "${wanted[@]}" >&2 ||
    fail "pip could not install: ${wanted[*]}"
}

# is_installed NAME: is what pyproject.toml lists under NAME in an environment that is whole? The file `stamp` holds
# what was asked for, so that a change of pyproject.toml, of the Python or of the folder's place makes the
# environment anew, and nothing else does.
is_installed() {
  mapfile -t wanted < <(requirements "$1")
  stamp=.venv/amasia-stamp${1:+-$1}
  stamped=$(printf '%s\n' "$PWD" "$("$base_python" --version)" "${wanted[@]}")
  [[ $(cat "$stamp" 2>/dev/null) == "$stamped" ]] && .venv/bin/python -c '' 2>/dev/null
}

# Makes the environment .venv, empty, unless there is one with the right packages.
make_environment() {
  if ! is_installed ""; then
    [[ ! -L .venv ]] ||
      fail ".venv is a link to another environment, which is not changed from here: remove the link"
    say "making the Python environment .venv with $base_python"
    "$base_python" -m venv --clear .venv || fail "$base_python could not make a virtual environment"
  fi
  : >.venv/amasia-made
}

# install_python answer|tests: the packages that are missing in .venv.
install_python() {
  if ! is_installed ""; then
    pip_install
    echo "$stamped" >"$stamp"
    # Bytecode and matplotlib's list of fonts, for which nobody is to wait when there is something to draw.
    .venv/bin/python -c 'import matplotlib.font_manager, plots.commands.report' >&2 || true
  fi
  [[ $1 == tests ]] && ! is_installed test || return 0
  pip_install
  echo "$stamped" >"$stamp"
}

# The environment is made, and Python's packages and the disassemblers are installed, beside the compiler:
# before their first use the end must be awaited.
python_jobs=()
wait_for_environment() {
  until [[ -f .venv/amasia-made ]]; do
    kill -0 "${python_jobs[0]}" 2>/dev/null || [[ -f .venv/amasia-made ]] ||
      fail "the Python environment .venv could not be made (see above)"
    sleep 0.1
  done
}
wait_for_python() {
  local job
  for job in "${python_jobs[@]}"; do
    wait "$job" || fail "Python's packages or the disassemblers could not be installed (see above)"
  done
  python_jobs=()
}
trap 'kill "${python_jobs[@]}" 2>/dev/null || true' EXIT

# install_wheels FOLDER NAME: the wheels that pyproject.toml lists under NAME, into .cuda/FOLDER.
install_wheels() {
  local folder=.cuda/$1 wanted
  mapfile -t wanted < <(requirements "$2")
  [[ $(cat "$folder/amasia-stamp" 2>/dev/null) == "$(printf '%s\n' "${wanted[@]}")" ]] && return
  say "installing into $folder: ${wanted[*]}"
  wait_for_environment
  rm -rf "$folder" "$folder.part"
  pip_install --no-deps --target "$folder.part"
  printf '%s\n' "${wanted[@]}" >"$folder.part/amasia-stamp"
  mv "$folder.part" "$folder"
}

# --- GPU and CUDA ----------------------------------------------------------------------------------

# Is there a GPU of NVIDIA's, whether its driver works or not? Device files, as containers get them; WSL's;
# a display controller on the PCI bus. (AMASIA_DEVICE_ROOT is for tests.)
have_gpu_device() {
  local root=${AMASIA_DEVICE_ROOT:-} device
  for device in "$root"/dev/nvidia[0-9]* "$root"/dev/dxg; do
    [[ ! -e $device ]] || return 0
  done
  for device in "$root"/sys/bus/pci/devices/*; do
    [[ $(cat "$device"/{vendor,class} 2>/dev/null) != 0x10de$'\n'0x03* ]] || return 0
  done
  return 1
}

# no_use_of_gpu WORD...: the end, where a GPU is there that cannot be used.
no_use_of_gpu() {
  end 3 "$*" "(To go on without a GPU: CUDA_VISIBLE_DEVICES= ${BASH_SOURCE[-1]})"
}

# The UUID of the GPU that a MIG device is a part of. nvidia-smi -L lists GPUs, and below each its parts.
gpu_of_mig() {
  nvidia-smi -L | awk -v part="(UUID: $1" '
    /^GPU / { match($0, /GPU-[0-9a-f-]+\)/); gpu = substr($0, RSTART, RLENGTH - 1) }
    index($0, part) { found = gpu }
    END { print found }' || true
}

# Sets gpu_name, gpu_capability and driver_cuda (the newest CUDA the driver runs, such as 13.0).
find_gpu() {
  gpu_name="" gpu_capability="" driver_cuda=""
  # By default CUDA's first device is the fastest, and nvidia-smi's the first on the bus.
  export CUDA_DEVICE_ORDER=PCI_BUS_ID
  local first=${CUDA_VISIBLE_DEVICES-0} answer rows words chosen kinds
  first=${first%%,*}
  command -v nvidia-smi >/dev/null || return 0
  case $first in
    "" | -* | NoDevFiles | none | void) return 0 ;; # hidden, by a person, by Slurm or by a container
  esac
  # "0, GPU-5a7c..., 9.0, NVIDIA H200"; its exit status may be of one GPU among several, or of a remark.
  answer=$(nvidia-smi --query-gpu=index,uuid,compute_cap,name --format=csv,noheader 2>&1) || true
  rows=$(grep -E '^[0-9]+, GPU-' <<<"$answer") || {
    have_gpu_device || return 0
    words=$(tr -s '\n' ' ' <<<"$answer")
    no_use_of_gpu "there is a GPU, but nvidia-smi fails: ${words:-without a word}"
  }

  [[ $first != MIG-* ]] || first=$(gpu_of_mig "$first")
  # A UUID may be given by its first digits.
  chosen=$(awk -F ', ' -v first="$first" '
    first != "" && ($1 == first || first ~ /^GPU-/ && index($2, first) == 1) { print; exit }' <<<"$rows")
  [[ -n $chosen ]] ||
    no_use_of_gpu "CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES-} names no GPU that nvidia-smi lists."
  [[ $chosen =~ ^[0-9]+,\ [^,]*,\ ([0-9]+)\.([0-9]+),\ (.*)$ ]] ||
    no_use_of_gpu "nvidia-smi does not tell the GPU's compute capability; it says: $chosen"
  gpu_capability=${BASH_REMATCH[1]}${BASH_REMATCH[2]} gpu_name=${BASH_REMATCH[3]}
  driver_cuda=$(nvidia-smi | sed -n 's/.*CUDA Version: *\([0-9.]*\).*/\1/p') || true
  kinds=$(cut -d, -f3- <<<"$rows" | sort -u | wc -l)
  [[ $kinds == 1 || -n ${CUDA_VISIBLE_DEVICES-} ]] ||
    say "of several kinds of GPU the first on the bus is used, $gpu_name; CUDA_VISIBLE_DEVICES=1 takes another"
}

nvcc_version() { "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p'; }

# Prints why this nvcc can compile nothing here; prints nothing when it can.
nvcc_defect() {
  local nvcc=$1 version probe
  version=$(nvcc_version "$nvcc")
  if [[ -z $version ]]; then
    echo "it does not run"
  elif ! version_at_least "$version" 12.4; then
    echo "CUDA $version is older than 12.4"
  else
    # A toolkit without its headers, or one that refuses the machine's g++, shows here: some packages of NVIDIA's
    # hold parts of a toolkit. A header of each part, of the C++ library a small one.
    probe=$(mktemp -d)
    printf '#include <%s>\n' cuda_runtime.h cuda_profiler_api.h mma.h cuda/std/cstdint >"$probe/probe.cu"
    "$nvcc" -std=c++17 -c "$probe/probe.cu" -o "$probe/probe.o" >"$probe/log" 2>&1 ||
      echo "it cannot compile here: $(grep -m 1 -i error "$probe/log")"
    rm -rf "$probe"
  fi
}

# Prints why the programs of this nvcc cannot run on the GPU here; nothing when they can, or without one.
nvcc_gpu_obstacle() {
  local nvcc=$1 version
  version=$(nvcc_version "$nvcc")
  [[ -n $gpu_capability ]] || return 0
  if ! "$nvcc" --list-gpu-arch | grep -qx "compute_$gpu_capability"; then
    echo "CUDA $version does not know sm_$gpu_capability"
  elif [[ -n $driver_cuda && ${version%%.*} -gt ${driver_cuda%%.*} ]]; then
    echo "programs of CUDA $version need a newer driver than this one, which runs CUDA $driver_cuda"
  fi
}

# The first toolkit that compiles here for the GPU here; else the wheels, if they can; else the first
# toolkit that compiles at all, and gpu_obstacle says why its programs will not run on the GPU.
choose_cuda() {
  local candidate defect obstacle seen="|" second="" wheels=.cuda/toolkit/nvidia/cu13
  local candidates=("${CUDACXX:-}" "$(type -P nvcc || true)" "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}"
    "${CUDA_PATH:+$CUDA_PATH/bin/nvcc}" /usr/local/cuda/bin/nvcc)
  CUDACXX="" gpu_obstacle=""
  for candidate in "${candidates[@]}"; do
    candidate=$(type -P "$candidate" || true)
    [[ -n $candidate && $seen != *"|$candidate|"* ]] || continue
    seen+="$candidate|"
    defect=$(nvcc_defect "$candidate")
    obstacle=${defect:-$(nvcc_gpu_obstacle "$candidate")}
    if [[ -z $obstacle ]]; then
      CUDACXX=$candidate
      break
    fi
    say "passing over $candidate: $obstacle"
    [[ -n $defect ]] || second=${second:-$candidate}
  done

  # The wheels are CUDA 13: drivers from 580 on, GPUs from Turing on.
  if [[ -z $CUDACXX && -n $second ]] &&
    [[ ${driver_cuda%%.*} -lt 13 || $gpu_capability -lt 75 ]]; then
    CUDACXX=$second
  elif [[ -z $CUDACXX ]]; then
    install_wheels toolkit cuda
    # nvcc looks in lib64, and CMake for the name without a version; the wheels have neither.
    ln -sfn lib "$wheels/lib64"
    ln -sfn libcudart.so.13 "$wheels/lib/libcudart.so"
    CUDACXX=$PWD/$wheels/bin/nvcc
    defect=$(nvcc_defect "$CUDACXX")
    [[ -z $defect ]] || fail "$CUDACXX, from NVIDIA's wheels, is no use here: $defect"
  fi
  gpu_obstacle=$(nvcc_gpu_obstacle "$CUDACXX")
  export CUDACXX
  PATH=$(dirname "$CUDACXX"):$PATH

  if ! command -v cuobjdump >/dev/null || ! command -v nvdisasm >/dev/null; then
    install_wheels disassemblers disassemblers &
    python_jobs+=($!)
    PATH=$PWD/.cuda/disassemblers/nvidia/cu13/bin:$PATH
  fi
}

# --- Build -----------------------------------------------------------------------------------------

# configure_and_build PRESET ARCHITECTURES TARGET [OPTION...] [--first OPTION...]: into build/PRESET; empty
# ARCHITECTURES leaves those of the preset, options are CMake's. Those after --first count for a new build
# folder only: they leave out what its user may have asked for since. A build folder made with another
# compiler or in another place starts afresh.
configure_and_build() {
  local preset=$1 architectures=$2 target=$3 cache=build/$1/CMakeCache.txt options=() first=()
  shift 3
  while [[ $# -gt 0 && $1 != --first ]]; do
    options+=("$1")
    shift
  done
  [[ $# == 0 ]] || first=("${@:2}")
  if [[ ! -f $cache ]]; then
    options+=("${first[@]}")
  elif ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache" ||
    { [[ -n $CUDACXX ]] && ! grep -qE "^CMAKE_CUDA_COMPILER:[A-Z]+=$CUDACXX\$" "$cache"; }; then
    options+=(--fresh "${first[@]}")
  fi
  [[ -z $architectures ]] || options+=("-DCMAKE_CUDA_ARCHITECTURES=$architectures")
  cmake --preset "$preset" "${options[@]}" >&2
  cmake --build "build/$preset" --target "$target" >&2
}

# --- All of it ------------------------------------------------------------------------------------

if [[ $purpose == compile ]]; then
  install_packages compile
  exit
fi
find_gpu
install_packages python
base_python=$(find_python)
rm -f .venv/amasia-made
{
  make_environment
  install_python "$purpose"
} &
python_jobs+=($!)
install_packages "$purpose"
if [[ $purpose == tests && -n ${CI:-} ]]; then # continuous integration skips no test
  # All of Slurm, and any of the browsers that tests/plots/browser.py looks for.
  PATH=$PATH:/usr/sbin:/usr/local/sbin type -P munged slurmctld slurmd sbatch >/dev/null ||
    install_for_tests campaign/ slurmctld slurmd slurm-client munge
  command -v chromium-headless-shell chromium chromium-browser google-chrome >/dev/null ||
    install_for_tests "the report's layout" chromium-headless-shell
  command -v shellcheck >/dev/null || install_for_tests "these scripts" shellcheck
  [[ -f /usr/share/i18n/locales/de_DE ]] || install_for_tests "other languages" locales
fi
CUDACXX=${CUDACXX:-} gpu_obstacle=""
if [[ $purpose == answer && -z $gpu_capability ]]; then
  CUDACXX="" # no device code is compiled
else
  choose_cuda
fi
PATH=$PWD/.venv/bin:$PATH
export PATH
[[ $purpose == answer ]] || wait_for_environment
python_version=$("$base_python" -c 'import platform; print(platform.python_version())')
say "Python $python_version," "${CUDACXX:+nvcc $(nvcc_version "$CUDACXX") ($CUDACXX),}" \
  "GPU: ${gpu_name:-none}${gpu_capability:+ (sm_$gpu_capability)}"
[[ -z $gpu_obstacle ]] || say "nothing built here will run on that GPU: $gpu_obstacle"
[[ ${BASH_SOURCE[0]} != "$0" ]] || wait_for_python
