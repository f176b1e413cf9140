# cmake -DROOT=<source tree> -DOUTPUT=<folder> [-DOPTIONS=<compiler options>] -P source_digests.cmake
#
# Digests that say whether a recorded result was made by the code that is here. Each covers whatever
# can change what is timed, judged or bounded:
#   a variant or comparator (an apps/<app>/*.cu that registers one)
#     - itself and what it includes,
#     - the .cu and .cpp files of the app's folder that register nothing (instance, CPU reference,
#       schedules, parameters and work) and what they include: inputs, verification, work model,
#     - the ceilings, which bound every row: microbench/ceilings and what it includes,
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
#   source_manifest.txt         "name content-hash path", one line per file that a digest covers: two
#                               manifests show which file made two digests differ
cmake_policy(SET CMP0007 NEW)
cmake_policy(SET CMP0054 NEW)
cmake_policy(SET CMP0057 NEW)

# --- content of a file ----------------------------------------------------------------------------

# Characters that no source contains stand for what CMake's lists cannot hold, and for the borders of
# a preprocessor directive, where a line break does count.
string(ASCII 1 begin_directive)
string(ASCII 2 end_directive)
string(ASCII 3 end_macro_name)
string(ASCII 4 semicolon)
string(ASCII 5 open_bracket)
string(ASCII 6 close_bracket)
string(ASCII 7 joined_lines)

set(blank "[ \t${joined_lines}]")
set(include_line "${begin_directive}#${blank}*include[^\n]*")
set(pragma_once "${begin_directive}#${blank}*pragma${blank}+once[^\n]*")
set(line_comment "//[^\n${end_directive}]*")
set(block_comment "/\\*[^*]*\\*+([^/*][^*]*\\*+)*/")
set(raw_string "R\"\\([^)]*\\)+([^)\"][^)]*\\)+)*\"")
set(string_literal "(u8|[uUL])?\"[^\"\\\\\n]*(\\\\.[^\"\\\\\n]*)*\"")
set(character "'([^'\\\\\n]|\\\\[^\n][^'\n]*)'")
set(identifier "[A-Za-z_][A-Za-z0-9_]*")
set(number "\\.?[0-9]([eEpP][+-]|'?[A-Za-z0-9_.])*")
# The longest first. '>' is taken alone where templates may end: formatters write both ">>" and "> >".
set(punctuator "\\.\\.\\.|->\\*|<=>|<<<|<<=|\\+\\+|--|->|\\.\\*|::|##|&&|\\|\\||<<|[-+*/%&|^!<>=]=")
set(other "[^ \t\n\\\\${joined_lines}]")
string(CONCAT token "${include_line}|${pragma_once}|${line_comment}|${block_comment}|${raw_string}|"
                    "${string_literal}|${character}|${identifier}|${number}|${punctuator}|${other}")
set(not_content "^(//|/\\*|${begin_directive}#${blank}*(include|pragma${blank}+once))")

# Content of a C++ or CUDA source: its tokens, one per line. Adjacent string literals are one.
function(tokens_of text result)
  string(REPLACE "\r" "" text "\n${text}\n")
  # A raw string with a delimiter could end anywhere for a regular expression: such a file counts as it
  # stands.
  if(NOT text MATCHES "R\"[^ ()\\\\\n\"]+\\(")
    string(REPLACE ";" "${semicolon}" text "${text}")
    string(REPLACE "[" "${open_bracket}" text "${text}")
    string(REPLACE "]" "${close_bracket}" text "${text}")
    string(REPLACE "\\\n" "${joined_lines}" text "${text}")
    string(REGEX REPLACE "(\n${blank}*)#([^\n]*)" "\\1${begin_directive}#\\2${end_directive}"
           text "${text}")
    # "#define f(x)" is a function, "#define f (x)" is not.
    string(REGEX REPLACE "(${begin_directive}#${blank}*define${blank}+${identifier})\\("
           "\\1${end_macro_name}(" text "${text}")
    string(REGEX MATCHALL "${token}" tokens "${text}")
    list(FILTER tokens EXCLUDE REGEX "${not_content}")
    list(JOIN tokens "\n" text)
    string(REPLACE "\"\n\"" "" text "${text}")
  endif()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# Content of a CMake file: without comments, with blank space only where it separates.
function(commands_of text result)
  string(REGEX REPLACE "#[^\n]*" "" text "${text}")
  string(REGEX REPLACE "[ \t\r\n]+" " " text "${text}")
  string(REGEX REPLACE " *([()]) *" "\\1" text "${text}")
  string(STRIP "${text}" text)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# Sets hash_of_<path> and, of a source, registers_<path>: the kinds of things it registers. Each file is
# read once.
function(read_source path)
  get_property(known GLOBAL PROPERTY hash_of_${path} SET)
  if(known)
    return()
  endif()
  file(READ ${ROOT}/${path} text)
  set(registers "")
  if(path MATCHES "\\.(cu|cuh|cpp|hpp)$")
    tokens_of("${text}" content)
    string(REGEX MATCHALL "\nregister_(variant|comparator|microbenchmark|ceiling)\n" registers
           "${content}")
    string(REGEX REPLACE "\n(register_)?" "" registers "${registers}")
  elseif(path MATCHES "\\.cmake$")
    commands_of("${text}" content)
  else()
    string(REPLACE "\r" "" content "${text}")
  endif()
  set(hash "")  # a file without content (one that only includes others) counts for nothing
  if(NOT content STREQUAL "")
    string(SHA256 hash "${content}")
  endif()
  set_property(GLOBAL PROPERTY hash_of_${path} "${hash}")
  set_property(GLOBAL PROPERTY registers_${path} "${registers}")
endfunction()

function(registered_in path result)
  read_source("${path}")
  get_property(registers GLOBAL PROPERTY registers_${path})
  set(${result} "${registers}" PARENT_SCOPE)
endfunction()

# --- which files ----------------------------------------------------------------------------------

# The project's files that `path` includes, as paths from the root: found beside the file or from the
# root, as the compiler does. And the implementation of a header.
function(includes_of path result)
  get_property(known GLOBAL PROPERTY includes_of_${path} SET)
  if(NOT known)
    file(STRINGS ${ROOT}/${path} lines REGEX "^[ \t]*#[ \t]*include[ \t]*\"")
    cmake_path(GET path PARENT_PATH folder)
    set(found "")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^[^\"]*\"([^\"]*)\".*" "\\1" name "${line}")
      foreach(candidate ${folder}/${name} ${name})
        cmake_path(NORMAL_PATH candidate)
        if(EXISTS ${ROOT}/${candidate} AND
           candidate MATCHES "^(apps|microbench|variants|inputs|tests/effects)/")
          list(APPEND found ${candidate})
          break()
        endif()
      endforeach()
    endforeach()
    if(path MATCHES "\\.(hpp|cuh)$")
      cmake_path(REPLACE_EXTENSION path LAST_ONLY cpp OUTPUT_VARIABLE implementation)
      if(EXISTS ${ROOT}/${implementation})
        list(APPEND found ${implementation})
      endif()
    endif()
    set_property(GLOBAL PROPERTY includes_of_${path} "${found}")
  endif()
  get_property(found GLOBAL PROPERTY includes_of_${path})
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# `paths` and all that they include.
function(closure_of paths result)
  set(open ${paths})
  set(closed "")
  while(open)
    list(POP_FRONT open next)
    if(NOT next IN_LIST closed)
      list(APPEND closed ${next})
      includes_of(${next} more)
      list(APPEND open ${more})
    endif()
  endwhile()
  set(${result} "${closed}" PARENT_SCOPE)
endfunction()

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

set(manifest "")

function(digest_of name files result)
  list(FILTER files EXCLUDE REGEX "^$")
  list(REMOVE_DUPLICATES files)
  list(SORT files)
  set(hashes "")
  foreach(path IN LISTS files)
    read_source(${path})
    get_property(hash GLOBAL PROPERTY hash_of_${path})
    if(hash)
      list(APPEND hashes ${hash})
      string(APPEND manifest "${name} ${hash} ${path}\n")
    endif()
  endforeach()
  if(ARGN)  # the options, which lie in no file
    string(SHA256 hash "${ARGN}")
    list(APPEND hashes ${hash})
    string(APPEND manifest "${name} ${hash} ${ARGN}\n")
  endif()
  list(REMOVE_DUPLICATES hashes)
  list(SORT hashes)
  string(SHA256 digest "${hashes}")
  set(${result} ${digest} PARENT_SCOPE)
  set(manifest "${manifest}" PARENT_SCOPE)
endfunction()

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

file(CONFIGURE OUTPUT ${OUTPUT}/source_digests.inc CONTENT "${lines}" @ONLY)
file(CONFIGURE OUTPUT ${OUTPUT}/study_digests.inc CONTENT "${study_lines}" @ONLY)
file(CONFIGURE OUTPUT ${OUTPUT}/microbenchmark_digests.inc CONTENT "${microbenchmark_lines}" @ONLY)
file(CONFIGURE OUTPUT ${OUTPUT}/harness_digest.inc CONTENT "\"${digest}\"\n" @ONLY)
file(CONFIGURE OUTPUT ${OUTPUT}/source_manifest.txt CONTENT "${manifest}" @ONLY)
