# Build steps that write what harness/results/provenance.cpp includes: digests of all sources (again
# whenever a source or an option changes) and the commit (looked at in every build, written when it
# differs).
#   include(digests); amasia_add_provenance(<target>)
# `cmake --build build/cpu --target <target>_digests` computes the digests and nothing else.

include(code_options)

# Knows what of a source counts. Installed, too: amasia_add_app() asks it.
file(GLOB digest_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/digests/*.cpp)
add_executable(amasia_digests ${digest_sources})
target_link_libraries(amasia_digests PRIVATE amasia_options amasia_fmt amasia_nettle)
target_compile_options(amasia_digests PRIVATE $<$<CONFIG:Release>:-Og>)  # its regular expressions compile in a third
amasia_compile_together(amasia_digests digests ${CMAKE_CURRENT_LIST_DIR}/digests)
set_target_properties(amasia_digests PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})

function(amasia_add_provenance target)
  set(generated ${PROJECT_BINARY_DIR}/generated/provenance)
  set(patterns "")
  foreach(folder apps variants microbench harness inputs)
    foreach(extension cu cuh hpp cpp csv)
      list(APPEND patterns ${PROJECT_SOURCE_DIR}/${folder}/*.${extension})
    endforeach()
    list(APPEND patterns ${PROJECT_SOURCE_DIR}/${folder}/options.cmake)
  endforeach()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${patterns})

  amasia_code_options(options)
  # For who asks what the digests count. The build step runs again when its command line changes.
  file(CONFIGURE OUTPUT ${generated}/code_options.txt CONTENT "${options}\n" @ONLY)
  set(digests ${generated}/source_digests.inc ${generated}/microbenchmark_digests.inc
      ${generated}/harness_digest.inc)
  add_custom_command(
    OUTPUT ${digests}
    BYPRODUCTS ${generated}/source_manifest.txt ${generated}/ceiling_manifest.txt
               ${generated}/ground_manifest.txt
    COMMAND amasia_digests suite ${PROJECT_SOURCE_DIR} ${options} ${generated}
    DEPENDS ${sources} amasia_digests
    COMMENT "Digests of the sources" VERBATIM)
  add_custom_target(${target}_digests DEPENDS ${digests})
  add_custom_target(${target}_commit
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUTPUT=${generated}/commit.inc
            -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/commit.cmake
    BYPRODUCTS ${generated}/commit.inc VERBATIM)

  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  string(JOIN " " cxx_flags ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}})
  string(JOIN " " cuda_flags ${CMAKE_CUDA_FLAGS} ${CMAKE_CUDA_FLAGS_${type}})
  set(compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  set(cuda_compiler "")
  set(flags "C++: ${cxx_flags}")
  if(AMASIA_CUDA)
    set(cuda_compiler "${CMAKE_CUDA_COMPILER_ID} ${CMAKE_CUDA_COMPILER_VERSION}")
    string(APPEND flags ", CUDA: ${cuda_flags}")
  endif()
  string(JOIN " " architectures ${CMAKE_CUDA_ARCHITECTURES})
  file(CONFIGURE OUTPUT ${generated}/build.inc CONTENT
       "{R\"(${compiler})\", R\"(${cuda_compiler})\", R\"(${flags})\", R\"(${architectures})\"}\n")

  target_sources(${target} PRIVATE ${digests})
  target_include_directories(${target} PRIVATE ${generated})
  add_dependencies(${target} ${target}_digests ${target}_commit)
endfunction()
