#!/usr/bin/env bash
# Runs a command in a clone of this checkout where nothing is installed: in a minimal root of this
# machine's Debian or Ubuntu, which has git and certificates and no more.
#
#   scripts/fresh_root.sh [--in FOLDER] COMMAND
#
#   COMMAND       for bash, in the clone, as root
#   --in FOLDER   makes the root there, or goes on in the one that is there, and keeps it; without it the
#                 root is in a temporary folder that is removed at the end
#
# What is committed is cloned. Of the machine the root gets its way to packages: apt-get's settings, pip's
# and the certificates; no toolkit, no library, no environment, no driver. It has processes and mounts of its
# own, which end with the command, and the machine's network and devices. The temporary folder is in $TMPDIR, by
# default /var/tmp, and takes 16 GiB.
#
# Exit code: the command's. 2: usage. 125: no root can be made here, which takes root and debootstrap.
set -euo pipefail

say() { printf 'fresh_root: %s\n' "$*" >&2; }
fail() {
  local status=$1
  shift
  say "error: $*"
  exit "$status"
}

folder=""
case ${1-} in
  -h | --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" && exit 0 ;;
  --in)
    [[ -n ${2-} ]] || fail 2 "--in takes a folder"
    folder=$(realpath -m "$2")
    shift 2
    ;;
esac
[[ $# == 1 && $1 != -* ]] || fail 2 "expected one command: see --help"
command=$1
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

[[ $(id -u) == 0 ]] || fail 125 "only root can make one"
# shellcheck source=/dev/null
. /etc/os-release
# Mounts and processes of its own; when this script ends, so do they.
own=(unshare --mount --pid --fork --kill-child)
"${own[@]}" true || fail 125 "this machine allows no namespaces of one's own"

job="" temporary=""
# shellcheck disable=SC2317 # called at the end
clean_up() {
  if [[ -n $job ]]; then
    kill "$job" 2>/dev/null || true
    wait "$job" 2>/dev/null || true
  fi
  [[ -z $temporary ]] || rm -rf --one-file-system "$temporary"
}
trap clean_up EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
if [[ -z $folder ]]; then # a built tree needs 16 GiB
  temporary=$(mktemp -d -p "${TMPDIR:-/var/tmp}" amasia-root.XXXXXX)
  folder=$temporary
fi

# pip's settings and the certificates' places, by environment and by file; not folders of wheels.
environment=(HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
kept="PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|CERT|PROXY|DEFAULT_TIMEOUT|RETRIES)|SSL_CERT_(FILE|DIR)"
kept+="|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|(https?|no|all)_proxy|(HTTPS?|NO|ALL)_PROXY"
while IFS= read -r -d '' setting; do
  [[ ! $setting =~ ^($kept)= ]] || environment+=("$setting")
done < <(env -0)
files=(/etc/resolv.conf /etc/pip.conf /etc/xdg/pip/pip.conf /etc/ssl/certs/ca-certificates.crt
  ~/.config/pip/pip.conf ~/.pip/pip.conf "${PIP_CERT-}" "${SSL_CERT_FILE-}" "${REQUESTS_CA_BUNDLE-}"
  "${CURL_CA_BUNDLE-}")

make_root() {
  local mirror file
  if ! command -v debootstrap >/dev/null; then
    { apt-get -qq update && apt-get -qq install -y --no-install-recommends debootstrap; } >&2 </dev/null ||
      return 1
  fi
  # shellcheck disable=SC2016 # apt-get's own variable
  mirror=$(apt-get indextargets --format '$(REPO_URI)' "Created-By: Packages" |
    awk '/\/(debian|ubuntu)\/?$/ && !found++')
  [[ -n $mirror ]] || {
    say "apt-get has no source of Debian or Ubuntu"
    return 1
  }
  say "making a minimal root of $VERSION_CODENAME in $folder"
  umask 022
  mkdir -p "$folder"
  chmod 755 "$folder" # mktemp's is its owner's alone
  # Without what makes a written file survive a power cut.
  mkdir -p "$folder/etc/dpkg/dpkg.cfg.d"
  echo force-unsafe-io >"$folder/etc/dpkg/dpkg.cfg.d/unsafe-io"
  debootstrap --variant=minbase --include=ca-certificates,git "$VERSION_CODENAME" "$folder" "$mirror" \
    >"$folder.log" 2>&1 </dev/null || {
    tail -n 5 "$folder.log" >&2
    return 1
  }
  rm -f "$folder.log" "$folder/etc/apt/sources.list"
  cp -r /etc/apt/. "$folder/etc/apt/"
  cp -r /usr/share/keyrings/. "$folder/usr/share/keyrings/"
  cp -r /usr/local/share/ca-certificates/. "$folder/usr/local/share/ca-certificates/" 2>/dev/null || true
  for file in "${files[@]}"; do
    [[ ! -f $file ]] || install -D -m 644 "$file" "$folder${file/#$HOME//root}"
  done
  printf '127.0.0.1 localhost %s\n::1 localhost\n' "$(hostname)" >"$folder/etc/hosts"
  : >"$folder/amasia-root"
}

clone=/srv/amasia
if [[ ! -f $folder/amasia-root ]]; then
  [[ ! -e $folder || -n $temporary ]] || fail 2 "$folder is there already, and is no root of this script's"
  make_root || fail 125 "no root could be made (see above)"
fi
if [[ ! -d $folder$clone ]]; then
  changed=$(git -c safe.directory='*' -C "$checkout" status --porcelain --untracked-files=no | wc -l)
  [[ $changed == 0 ]] || say "$changed changed files are not committed, and so not in the clone"
  # Complete in itself, and whoever owns the checkout: git hands this setting on by the environment alone.
  settings=$(mktemp)
  printf '[safe]\n\tdirectory = *\n' >"$settings"
  GIT_CONFIG_GLOBAL=$settings git clone -q --no-local "$checkout" "$folder$clone" ||
    fail 125 "$checkout could not be cloned"
  rm -f "$settings"
fi

# shellcheck disable=SC2016 # the inner shell's
"${own[@]}" bash -euc '
  root=$1
  shift
  mount --bind "$root" "$root" # else / is no mount there, and nothing may be mounted by what runs in it
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  exec chroot "$root" env -i "$@"
' bash "$folder" "${environment[@]}" bash -c "cd $clone || exit 125
$command
exit" </dev/null & # its own process 1 to the end, so that it takes leave of orphans
job=$!
status=0
wait "$job" || status=$?
job=""
exit "$status"
