# Comparators of a CCCL that is newer than the toolkit's (AMASIA_NEWER_CCCL): sources named *_newer.cu.

# CCCL_VERSION below a folder of headers, such as 3000001; empty where there is none.
function(amasia_cccl_version folder result)
  set(version "")
  set(header ${folder}/cuda/std/__cccl/version.h)
  if(EXISTS ${header})
    file(STRINGS ${header} version REGEX "# *define +CCCL_VERSION +[0-9]+" LIMIT_COUNT 1)
    string(REGEX REPLACE ".* ([0-9]+).*" "\\1" version "${version}")
  endif()
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# Compiles them with it, or takes them out of the list.
function(amasia_with_newer_cccl sources)
  set(newer_sources ${${sources}})
  list(FILTER newer_sources INCLUDE REGEX "_newer\\.cu$")
  if(NOT newer_sources)
    return()
  endif()
  set(cccl_of_toolkit 0)
  foreach(folder IN LISTS CUDAToolkit_INCLUDE_DIRS)
    foreach(place ${folder}/cccl ${folder})
      amasia_cccl_version(${place} cccl_here)
      if(cccl_here)
        set(cccl_of_toolkit ${cccl_here})
        break()
      endif()
    endforeach()
  endforeach()
  amasia_cccl_version("${AMASIA_NEWER_CCCL}" cccl_given)
  if(cccl_given AND cccl_given GREATER cccl_of_toolkit)
    # A name of its own for the inline namespace of libcu++, __4 in both: the linker would take one's functions for
    # the other's.
    set_source_files_properties(${newer_sources} PROPERTIES
      INCLUDE_DIRECTORIES ${AMASIA_NEWER_CCCL}
      COMPILE_DEFINITIONS __4=__newer)
    return()
  endif()
  if(AMASIA_NEWER_CCCL AND NOT cccl_given)
    amasia_fail("AMASIA_NEWER_CCCL names '${AMASIA_NEWER_CCCL}', which has no cuda/std/__cccl/version.h.")
  elseif(AMASIA_NEWER_CCCL)
    message(STATUS "AMASIA_NEWER_CCCL is not newer than the toolkit's CCCL: no second CUB")
  endif()
  list(REMOVE_ITEM ${sources} ${newer_sources})
  set(${sources} "${${sources}}" PARENT_SCOPE)
endfunction()
