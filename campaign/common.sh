# shellcheck shell=bash disable=SC2034 # what those that source this use
# What submit, task and merge of this folder share. To be sourced.
#
# The folder of a campaign holds
#   campaign                what is measured, as bash variables: mode, parts, program, command
#   MODE-PART.json.gz       what a part has measured; MODE-PART.2.json.gz and so on on another GPU, after
#                           the first was taken away; .journal while it is measured
#   MODE-PART.status        the exit status of amasia, once a part has all that it is to have
#   MODE-PART.idle          how often in a row a part was interrupted before it had finished a group
#   jobs                    the jobs of the last submission: the array, and the merge
#   log/                    what the jobs printed
#   result.json.gz, summary.md   what merge made of it

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
fail() {
  local status=$1
  shift
  say "$@"
  exit "$status"
}

# read_campaign FOLDER: sets folder, mode, parts, program and command.
read_campaign() {
  folder=$1
  mode="" parts=0 program="" command=()
  [[ -f $folder/campaign ]] || fail 2 "$folder holds no campaign: start one with campaign/submit"
  # shellcheck source=/dev/null
  source "$folder/campaign"
}

# files_of PART: its result files and journals, in the order in which they were begun. Of a file whose
# journal is still there the journal is what is meant.
files_of() {
  local try=1 stem=$folder/$mode-$1
  local file=$stem.json.gz
  while [[ -e $file || -e $file.journal ]]; do
    if [[ -e $file.journal ]]; then printf '%s\n' "$file.journal"; else printf '%s\n' "$file"; fi
    try=$((try + 1))
    file=$stem.$try.json.gz
  done
}

# finished_in JOURNAL: how many groups and microbenchmarks it holds.
finished_in() { grep -cE '^\{"(group|microbenchmark)"' "$1" || true; }

# Whether anything was finished in a file of files_of.
holds_results() { [[ $1 != *.journal || $(finished_in "$1") != 0 ]]; }

# is_finished PART
is_finished() { [[ -e $folder/$mode-$1.status ]]; }
