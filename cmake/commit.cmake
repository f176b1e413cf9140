# cmake -DROOT=<source tree> -DOUTPUT=<file> -P commit.cmake
# Writes {"<commit>", <dirty>}. Dirty: something that shapes the executable differs from the commit;
# new results or texts do not count. A source archive (git archive) carries its commit in
# archived_commit.txt; what was changed after it was unpacked is not known there. Outside a checkout:
# "unknown", false. A checkout that git cannot read: "unknown", true, and a warning with git's words.
set(commit "unknown")
set(dirty "false")
if(EXISTS ${ROOT}/cmake/archived_commit.txt)
  file(STRINGS ${ROOT}/cmake/archived_commit.txt archived LIMIT_COUNT 1)
  if(archived MATCHES "^[0-9a-f]+$")  # in a checkout, where git has not filled it in, it has another form
    set(commit ${archived})
  endif()
endif()
set(reason "there is no git on PATH")
find_program(GIT git)
if(GIT)
  # Whoever builds the tree trusts it, whoever owns it: a mounted folder often has another owner.
  set(git ${GIT} -C ${ROOT} -c safe.directory=*)
  execute_process(COMMAND ${git} rev-parse --show-toplevel HEAD
                  OUTPUT_VARIABLE answer ERROR_VARIABLE reason RESULT_VARIABLE failed
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)
  # A tarball unpacked inside somebody else's checkout must not take that one's commit.
  if(NOT failed AND answer MATCHES "^(.*)\n([0-9a-f]+)$")
    set(head ${CMAKE_MATCH_2})
    file(REAL_PATH "${CMAKE_MATCH_1}" top)
    file(REAL_PATH "${ROOT}" root)
    if(top STREQUAL root)
      set(commit ${head})
      execute_process(
        COMMAND ${git} --no-optional-locks status --porcelain --
                apps variants microbench harness inputs cmake CMakeLists.txt CMakePresets.json
        OUTPUT_VARIABLE changes ERROR_VARIABLE reason RESULT_VARIABLE failed)
      if(failed OR NOT changes STREQUAL "")
        set(dirty "true")
      endif()
      if(failed)
        message(WARNING "git cannot tell what differs from the commit, so results say dirty: ${reason}")
      endif()
    endif()
  endif()
endif()
if(commit STREQUAL "unknown" AND EXISTS ${ROOT}/.git)
  set(dirty "true")
  message(WARNING "the commit of ${ROOT} is not known, so results say unknown and dirty: ${reason}")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "{\"${commit}\", ${dirty}}\n")
