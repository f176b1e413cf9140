# cmake -DROOT=<source tree> -DOUTPUT=<folder> [-DOPTIONS=<compiler options>] -P source_digests.cmake
#
# Digests that say whether a recorded result was made by the code that is here. Each covers whatever
# can change what is timed, judged or bounded:
#   a variant or comparator (an apps/<app>/*.cu that registers one)
#     - itself and what it includes,
#     - the .cu and .cpp files of the app's folder that register nothing (instance, CPU reference,
#       schedules, parameters and work) and what they include: inputs, verification, work model,
#     - the ceilings, which bound every row: microbench/ceilings and what it includes, and those that
#       the app's folder registers for itself,
#     - apps/<app>/options.cmake and OPTIONS, the options that every kernel is compiled with;
#   a microbenchmark (a microbench/<question>/*.cu that registers one)
#     - itself, what it includes, and those files of its folder that register nothing,
#     - microbench/<question>/options.cmake and OPTIONS;
#   an app of a test whose results are recorded (tests/effects): all sources of its folder, what they
#     include, the ceilings and OPTIONS;
#   the harness: all of harness/ and inputs/, which time, generate and compare, and what they include.
# "Includes" means #include "..." of files in apps/, microbench/, variants/ and inputs/, directly or
# not, and for a header also the .cpp of its name beside it. The harness has a digest of its own.
#
# A digest is the SHA-256 of a sorted set of content hashes, without paths: moving and renaming change
# nothing. The content of a file is its tokens (below): comments, blank space, line breaks, includes
# and #pragma once change nothing either. Everything else does.
#
# Writes to <folder>:
#   source_digests.inc          {"app/variant", "<SHA-256>"}, one line each, for provenance.cpp
#   microbenchmark_digests.inc  {"question/name", "<SHA-256>"}, likewise
#   study_digests.inc           {"app", "<SHA-256>"}, likewise
#   harness_digest.inc          "<SHA-256>"
#   ceiling_manifest.txt        "content-hash path", one line per file that the ceilings' part covers
#   ground_manifest.txt         "content-hash path included-path ...", one line per .cpp of variants/ and inputs/
#   source_manifest.txt         "name content-hash path", one line per file that a digest covers: two
#                               manifests show which file made two digests differ
cmake_policy(SET CMP0007 NEW)
cmake_policy(SET CMP0054 NEW)
cmake_policy(SET CMP0057 NEW)

include(${CMAKE_CURRENT_LIST_DIR}/source_content.cmake)

# --- which files ----------------------------------------------------------------------------------

# Files below `folder` with one of the extensions that follow.
function(files_of folder result)
  list(JOIN ARGN "|" extensions)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${folder}/*)
  list(FILTER files INCLUDE REGEX "\\.(${extensions})$")
  set(${result} "${files}" PARENT_SCOPE)
endfunction()

# Files of a folder that register nothing, and its options. A .cpp that implements a header belongs to
# whoever includes the header, unless `ALL`.
function(shared_of folder scope result)
  files_of(${folder} sources cu cpp)
  set(shared "")
  foreach(path IN LISTS sources)
    registered_in(${path} registers)
    cmake_path(REMOVE_EXTENSION path LAST_ONLY OUTPUT_VARIABLE stem)
    if(NOT registers AND
       (scope STREQUAL ALL OR NOT (EXISTS ${ROOT}/${stem}.hpp OR EXISTS ${ROOT}/${stem}.cuh)))
      list(APPEND shared ${path})
    endif()
  endforeach()
  closure_of("${shared}" shared)
  if(EXISTS ${ROOT}/${folder}/options.cmake)
    list(APPEND shared ${folder}/options.cmake)
  endif()
  set(${result} "${shared}" PARENT_SCOPE)
endfunction()

# --- digests --------------------------------------------------------------------------------------

set(options "options: ${OPTIONS}")

# The ceilings, wherever they lie in microbench/.
files_of(microbench sources cu)
set(ceilings "")
set(folders "")
foreach(path IN LISTS sources)
  registered_in(${path} registers)
  if("ceiling" IN_LIST registers)
    cmake_path(GET path PARENT_PATH folder)
    list(APPEND ceilings ${path})
    list(APPEND folders ${folder})
  endif()
endforeach()
list(REMOVE_DUPLICATES folders)
closure_of("${ceilings}" ceilings)
foreach(folder IN LISTS folders)
  shared_of(${folder} UNDECLARED shared)
  list(APPEND ceilings ${shared})
endforeach()

file(GLOB apps RELATIVE ${ROOT} ${ROOT}/apps/*)
set(lines "")
foreach(app IN LISTS apps)
  if(NOT IS_DIRECTORY ${ROOT}/${app})
    continue()
  endif()
  shared_of(${app} ALL shared)
  file(GLOB sources RELATIVE ${ROOT} ${ROOT}/${app}/*.cu)
  foreach(path IN LISTS sources)
    registered_in(${path} registers)
    if("ceiling" IN_LIST registers)
      closure_of(${path} own)
      list(APPEND shared ${own})
    endif()
  endforeach()
  foreach(path IN LISTS sources)
    registered_in(${path} registers)
    if("variant" IN_LIST registers OR "comparator" IN_LIST registers)
      string(REGEX REPLACE "^apps/(.*)\\.cu$" "\\1" name ${path})
      closure_of(${path} own)
      digest_of(${name} "${own};${shared};${ceilings}" digest "${options}")
      string(APPEND lines "{\"${name}\", \"${digest}\"},\n")
    endif()
  endforeach()
endforeach()

# Apps of tests whose results are recorded, <folder>:<app>: all sources of the folder, for all variants.
set(study_lines "")
foreach(app tests/effects:planted tests/effects:contest tests/effects:dosed)
  string(REPLACE ":" ";" app ${app})
  list(POP_FRONT app folder)
  if(IS_DIRECTORY ${ROOT}/${folder})
    files_of(${folder} own cu cuh)
    closure_of("${own}" own)
    digest_of(${app} "${own};${ceilings}" digest "${options}")
    string(APPEND study_lines "{\"${app}\", \"${digest}\"},\n")
  endif()
endforeach()

set(microbenchmark_lines "")
file(GLOB questions RELATIVE ${ROOT} ${ROOT}/microbench/*)
foreach(question IN LISTS questions)
  if(NOT IS_DIRECTORY ${ROOT}/${question})
    continue()
  endif()
  shared_of(${question} UNDECLARED shared)
  file(GLOB sources RELATIVE ${ROOT} ${ROOT}/${question}/*.cu)
  foreach(path IN LISTS sources)
    registered_in(${path} registers)
    if("microbenchmark" IN_LIST registers)
      string(REGEX REPLACE "^microbench/(.*)\\.cu$" "\\1" name ${path})
      closure_of(${path} own)
      digest_of(${name} "${own};${shared}" digest "${options}")
      string(APPEND microbenchmark_lines "{\"${name}\", \"${digest}\"},\n")
    endif()
  endforeach()
endforeach()

files_of(harness harness cu cuh hpp cpp)
files_of(inputs inputs cu cuh hpp cpp csv)
closure_of("${harness}" included)
digest_of(harness "${harness};${inputs};${included}" digest)

# For digests of apps that are no part of this tree (app_digests.cmake).
list(REMOVE_DUPLICATES ceilings)
list(SORT ceilings)
set(ceiling_lines "")
foreach(path IN LISTS ceilings)
  read_source(${path})
  get_property(hash GLOBAL PROPERTY hash_of_${path})
  if(hash)
    string(APPEND ceiling_lines "${hash} ${path}\n")
  endif()
endforeach()

# And of the ground's own implementations, which lie in libraries where the suite is installed.
set(ground_lines "")
foreach(room variants inputs)
  files_of(${room} implementations cpp)
  foreach(path IN LISTS implementations)
    read_source(${path})
    get_property(hash GLOBAL PROPERTY hash_of_${path})
    includes_of(${path} included)
    string(REPLACE ";" " " included "${included}")
    string(APPEND ground_lines "${hash} ${path} ${included}\n")
  endforeach()
endforeach()

file(CONFIGURE OUTPUT ${OUTPUT}/source_digests.inc CONTENT "${lines}" @ONLY)
file(CONFIGURE OUTPUT ${OUTPUT}/study_digests.inc CONTENT "${study_lines}" @ONLY)
file(CONFIGURE OUTPUT ${OUTPUT}/microbenchmark_digests.inc CONTENT "${microbenchmark_lines}" @ONLY)
file(CONFIGURE OUTPUT ${OUTPUT}/harness_digest.inc CONTENT "\"${digest}\"\n" @ONLY)
file(CONFIGURE OUTPUT ${OUTPUT}/source_manifest.txt CONTENT "${manifest}" @ONLY)
file(CONFIGURE OUTPUT ${OUTPUT}/ceiling_manifest.txt CONTENT "${ceiling_lines}" @ONLY)
file(CONFIGURE OUTPUT ${OUTPUT}/ground_manifest.txt CONTENT "${ground_lines}" @ONLY)
