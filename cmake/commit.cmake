# cmake -DROOT=<source tree> -DOUTPUT=<file> -P commit.cmake
# Writes {"<commit>", <dirty>}. Dirty: something that shapes the executable differs from the commit;
# new results or texts do not count. A source archive (scripts/release.py) carries its commit in
# archived_commit.txt; what was changed after it was unpacked is not known there. Otherwise, without git or
# outside a checkout: "unknown", false.
set(commit "unknown")
set(dirty "false")
if(EXISTS ${ROOT}/cmake/archived_commit.txt)
  file(STRINGS ${ROOT}/cmake/archived_commit.txt archived LIMIT_COUNT 1)
  if(archived MATCHES "^[0-9a-f]+$")  # in a checkout, where git has not filled it in, it has another form
    set(commit ${archived})
  endif()
endif()
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${ROOT} rev-parse --show-toplevel HEAD
                  OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE failed
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  # A tarball unpacked inside somebody else's checkout must not take that one's commit.
  if(NOT failed AND answer MATCHES "^(.*)\n([0-9a-f]+)$")
    set(head ${CMAKE_MATCH_2})
    file(REAL_PATH "${CMAKE_MATCH_1}" top)
    file(REAL_PATH "${ROOT}" root)
    if(top STREQUAL root)
      set(commit ${head})
      execute_process(
        COMMAND ${GIT} -C ${ROOT} --no-optional-locks status --porcelain --
                apps variants microbench harness inputs cmake CMakeLists.txt CMakePresets.json
        OUTPUT_VARIABLE changes ERROR_QUIET)
      if(NOT changes STREQUAL "")
        set(dirty "true")
      endif()
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "{\"${commit}\", ${dirty}}\n")
