# The options every kernel is compiled with, as far as they can change its code: no warnings, no folders,
# no architectures (provenance records those apart). A build without CUDA answers what CMake would give
# nvcc, so that it judges recorded results as a build with CUDA does.
function(amasia_code_options result)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  set(of_type "${CMAKE_CUDA_FLAGS_${type}}")
  if(type STREQUAL "RELEASE" AND AMASIA_CUDA)
    set(of_type "${amasia_timed_cuda_flags}")
  endif()
  if(NOT AMASIA_CUDA AND NOT of_type)
    set(of_type "${CMAKE_CXX_FLAGS_${type}}")  # CMake has the same defaults for both compilers
  endif()
  string(JOIN " " text "" -std=c++${CMAKE_CUDA_STANDARD} ${amasia_device_options} ${CMAKE_CUDA_FLAGS}
         ${of_type})
  string(CONCAT folder_or_architecture "-I|-L|-isystem|-ccbin|--compiler-bindir|"
                                       "-arch|--gpu-architecture|-gencode|--generate-code")
  set(warning "(-Xcompiler[ =])?--?[Ww]|-Xptxas[ =]--(disable-)?warn|(-Xcudafe[ =])?--?diag[-_]")
  string(REGEX REPLACE " (${folder_or_architecture})[ =]?[^ ]+" "" text "${text}")
  string(REGEX REPLACE " (${warning}|--?allow-unsupported-compiler)[^ ]*" "" text "${text}")
  # How the host's machine code may be linked, which clusters' environments like to ask for.
  string(REGEX REPLACE " (-Xcompiler[ =])?-f(no-)?(PIC|pic|PIE|pie)" "" text "${text}")
  string(REGEX REPLACE " +" " " text "${text}")
  string(STRIP "${text}" text)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()
