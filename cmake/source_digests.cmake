# cmake -DROOT=<source tree> -DOUTPUT=<folder> -P source_digests.cmake
# Writes <folder>/source_digests.inc, one line {"app/strategy", "<SHA-256>"} per apps/*/*.cu that
# registers a variant or a comparator, <folder>/microbenchmark_digests.inc, the same per
# microbench/*/*.cu that registers a microbenchmark, and <folder>/harness_digest.inc, one string.
#
# Digest of a variant: SHA-256 over the files apps/<app>/<strategy>.cu includes with #include "...",
# directly or not, that lie in apps/, microbench/ or variants/, and itself; for a header of variants/ also the .cpp
# of the same name, which implements it. Sorted by path; of each file its path and its code.
# Digest of the harness: the same over every source in harness/ and inputs/.
#
# Code is the text without comments, without blank lines, and with runs of blanks as one: a comment
# may be corrected without making results stale. (In string literals, too, runs of blanks count as
# one. A file with a raw string literal is taken as it stands.)
cmake_policy(SET CMP0054 NEW)
cmake_policy(SET CMP0057 NEW)

function(code_of path result)
  file(READ ${ROOT}/${path} text)
  if(NOT text MATCHES "R\"[^ ()\\\\]*\\(")
    string(REPLACE "\r" "" text "${text}")
    # Literals and comments are marked first, leftmost match wins: a quotation mark in a comment opens
    # no string, "//" in a string no comment.
    string(ASCII 3 mark)
    set(string_literal "\"([^\"\\\\\n]|\\\\.)*\"")
    set(character "'([^'\\\\\n]|\\\\[^\n][^'\n]*)'")
    set(block_comment "/\\*([^*]|\\*+[^*/])*\\*+/")
    string(REGEX REPLACE "(${string_literal}|${character}|//[^\n]*|${block_comment})"
           "${mark}\\1${mark}" text "${text}")
    string(REGEX REPLACE "${mark}(//|/\\*)[^${mark}]*${mark}" " " text "${text}")
    string(REPLACE "${mark}" "" text "${text}")
    string(REGEX REPLACE "[ \t]+" " " text "${text}")
    string(REGEX REPLACE " ?\n[ \n]*" "\n" text "${text}")
    string(REGEX REPLACE "^[ \n]+" "" text "${text}")
  endif()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# The project's files that `path` includes, as paths from the root: found beside the file or from the
# root, as the compiler does.
function(includes_of path result)
  file(STRINGS ${ROOT}/${path} lines REGEX "^[ \t]*#[ \t]*include[ \t]*\"")
  cmake_path(GET path PARENT_PATH folder)
  set(found "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[^\"]*\"([^\"]*)\".*" "\\1" name "${line}")
    foreach(candidate ${folder}/${name} ${name})
      cmake_path(NORMAL_PATH candidate)
      if(EXISTS ${ROOT}/${candidate} AND candidate MATCHES "^(apps|microbench|variants)/")
        list(APPEND found ${candidate})
        break()
      endif()
    endforeach()
  endforeach()
  if(path MATCHES "^variants/.*\\.(hpp|cuh)$")
    cmake_path(REPLACE_EXTENSION path LAST_ONLY cpp OUTPUT_VARIABLE implementation)
    if(EXISTS ${ROOT}/${implementation})
      list(APPEND found ${implementation})
    endif()
  endif()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# Sorted list of `path` and everything it includes.
function(closure_of path result)
  set(open ${path})
  set(closed "")
  while(open)
    list(POP_FRONT open next)
    if(NOT next IN_LIST closed)
      list(APPEND closed ${next})
      includes_of(${next} more)
      list(APPEND open ${more})
    endif()
  endwhile()
  list(SORT closed)
  set(${result} "${closed}" PARENT_SCOPE)
endfunction()

# Each file is hashed on its own (and once), the digest is over the lines "<path> <hash>".
function(digest_of files result)
  set(manifest "")
  foreach(path IN LISTS files)
    get_property(hash GLOBAL PROPERTY hash_of_${path})
    if(NOT hash)
      code_of(${path} code)
      string(SHA256 hash "${code}")
      set_property(GLOBAL PROPERTY hash_of_${path} ${hash})
    endif()
    string(APPEND manifest "${path} ${hash}\n")
  endforeach()
  string(SHA256 digest "${manifest}")
  set(${result} ${digest} PARENT_SCOPE)
endfunction()

file(GLOB variants RELATIVE ${ROOT} ${ROOT}/apps/*/*.cu)
list(SORT variants)
set(lines "")
foreach(path IN LISTS variants)
  file(STRINGS ${ROOT}/${path} registration REGEX "register_(variant|comparator)" LIMIT_COUNT 1)
  if(NOT registration)
    continue()
  endif()
  closure_of(${path} files)
  digest_of("${files}" digest)
  string(REGEX REPLACE "^apps/(.*)\\.cu$" "\\1" name ${path})
  string(APPEND lines "{\"${name}\", \"${digest}\"},\n")
endforeach()

file(GLOB microbenchmarks RELATIVE ${ROOT} ${ROOT}/microbench/*/*.cu)
list(SORT microbenchmarks)
set(microbenchmark_lines "")
foreach(path IN LISTS microbenchmarks)
  file(STRINGS ${ROOT}/${path} registration REGEX "register_microbenchmark" LIMIT_COUNT 1)
  if(NOT registration)
    continue()
  endif()
  closure_of(${path} files)
  digest_of("${files}" digest)
  string(REGEX REPLACE "^microbench/(.*)\\.cu$" "\\1" name ${path})
  string(APPEND microbenchmark_lines "{\"${name}\", \"${digest}\"},\n")
endforeach()

file(GLOB_RECURSE harness RELATIVE ${ROOT} ${ROOT}/harness/* ${ROOT}/inputs/*)
list(FILTER harness INCLUDE REGEX "\\.(cu|cuh|hpp|cpp)$")
list(SORT harness)
digest_of("${harness}" digest)

file(CONFIGURE OUTPUT ${OUTPUT}/source_digests.inc CONTENT "${lines}" @ONLY)
file(CONFIGURE OUTPUT ${OUTPUT}/microbenchmark_digests.inc CONTENT "${microbenchmark_lines}" @ONLY)
file(CONFIGURE OUTPUT ${OUTPUT}/harness_digest.inc CONTENT "\"${digest}\"\n" @ONLY)
