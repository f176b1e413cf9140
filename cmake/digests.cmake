# Build steps that write what harness/results/provenance.cpp includes: digests of each variant's sources (again
# whenever a source changes) and the commit (looked at in every build, written when it differs).
#   include(digests); amasia_add_provenance(<target>)

function(amasia_add_provenance target)
  set(generated ${CMAKE_BINARY_DIR}/generated/provenance)
  set(script ${PROJECT_SOURCE_DIR}/cmake/source_digests.cmake)
  set(patterns "")
  foreach(folder apps variants microbench harness inputs)
    foreach(extension cu cuh hpp cpp)
      list(APPEND patterns ${PROJECT_SOURCE_DIR}/${folder}/*.${extension})
    endforeach()
  endforeach()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${patterns})

  add_custom_command(
    OUTPUT ${generated}/source_digests.inc ${generated}/microbenchmark_digests.inc
           ${generated}/harness_digest.inc
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUTPUT=${generated} -P ${script}
    DEPENDS ${sources} ${script}
    COMMENT "Digests of the variants' sources" VERBATIM)
  add_custom_target(${target}_commit
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUTPUT=${generated}/commit.inc
            -P ${PROJECT_SOURCE_DIR}/cmake/commit.cmake
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

  target_sources(${target} PRIVATE ${generated}/source_digests.inc
                 ${generated}/microbenchmark_digests.inc ${generated}/harness_digest.inc)
  target_include_directories(${target} PRIVATE ${generated})
  add_dependencies(${target} ${target}_commit)
endfunction()
