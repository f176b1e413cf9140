# amasia_compile_together(TARGET NAME FOLDER...): the target's sources in these folders become one
# translation unit, so that what they all include is read and instantiated once. Sources that include
# what a build step writes stay alone: they are compiled again at every commit. With
# -DCMAKE_UNITY_BUILD=OFF every file is compiled on its own.
function(amasia_compile_together target name)
  if(DEFINED CMAKE_UNITY_BUILD AND NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    file(STRINGS ${source} generated REGEX "^#include \".*\\.inc\"" LIMIT_COUNT 1)
    if(folder IN_LIST ARGN AND NOT generated)
      set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${name})
    endif()
  endforeach()
endfunction()
