# Build type, language standards, architectures, warnings. Senseless settings end here, in one line.

# Two leading spaces keep CMake from breaking the line.
function(amasia_fail)
  list(JOIN ARGN "" text)
  message(FATAL_ERROR "\n  amasia: ${text}")
endfunction()

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT multi_config)
  set(known_types Release RelWithDebInfo Debug)
  if(NOT CMAKE_BUILD_TYPE)
    amasia_fail("CMAKE_BUILD_TYPE is not set, and a benchmark built without optimisation measures "
                "nothing: use a preset (cmake --preset sm90) or -DCMAKE_BUILD_TYPE=Release.")
  elseif(NOT CMAKE_BUILD_TYPE IN_LIST known_types)
    amasia_fail("CMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} is unknown: use Release, RelWithDebInfo or Debug.")
  endif()
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(ccache_program ccache)
if(ccache_program AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache_program})
endif()

add_library(amasia_options INTERFACE)
target_include_directories(amasia_options INTERFACE ${PROJECT_SOURCE_DIR})
# Ours alone: what links to Amasia::harness in a project of its own has the warnings it wants.
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(amasia_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Werror>)
  # GCC looks for garbage as soon as it holds some ten megabytes. Without that a unit of the harness takes an eighth to a
  # sixth less time and a quarter more memory: 1.3 GB the largest, 2.3 that of tests/fuzz, which was 2.0.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(keep_garbage --param=ggc-min-heapsize=1000000)  # kilobytes
    target_compile_options(amasia_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${keep_garbage}>)
    if(NOT CMAKE_CUDA_HOST_COMPILER)
      target_compile_options(amasia_options INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${keep_garbage}>)
    endif()
  endif()
endif()
target_compile_options(amasia_options INTERFACE
  # Error messages quote file names; they should not quote where this checkout lies.
  $<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>)

# What every kernel is compiled with, warnings apart. Known without CUDA, too, because the digests of the
# sources cover it (cmake/digests.cmake) and a build without CUDA judges recorded results by them.
set(CMAKE_CUDA_STANDARD 17)
set(amasia_device_options --expt-relaxed-constexpr -lineinfo)

if(AMASIA_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND DEFINED ENV{CUDAARCHS})
    set(CMAKE_CUDA_ARCHITECTURES $ENV{CUDAARCHS})
  endif()
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    amasia_fail("CMAKE_CUDA_ARCHITECTURES is not set: use a preset (cmake --preset sm90, sm80, portable), "
                "or name the GPU's compute capability, -DCMAKE_CUDA_ARCHITECTURES=90-real, "
                "or build without CUDA (cmake --preset cpu).")
  endif()
  foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
    if(NOT architecture MATCHES "^(70|75|80|86|87|89|(90|100|103|110|120|121)[af]?)(-real|-virtual)?$")
      amasia_fail("CMAKE_CUDA_ARCHITECTURES has '${architecture}': use 70, 75, 80, 86, 87, 89, 90, 100, "
                  "103, 110, 120 or 121, with a suffix -real or -virtual if wanted.")
    endif()
  endforeach()

  # CMake's own search, then the toolkit that scripts/setup.sh installed from wheels. The compiler is
  # asked for its version before CMake tries it, because that trial fails without saying why.
  if(NOT CMAKE_CUDA_COMPILER)
    find_program(found_nvcc NAMES $ENV{CUDACXX} nvcc NO_CACHE
                 PATHS $ENV{CUDA_HOME}/bin $ENV{CUDA_PATH}/bin /usr/local/cuda/bin
                       ${PROJECT_SOURCE_DIR}/.cuda/toolkit/nvidia/cu13/bin)
    if(NOT found_nvcc)
      amasia_fail("no nvcc was found: run scripts/setup.sh, which installs one under .cuda/, or name yours "
                  "with -DCMAKE_CUDA_COMPILER=, or build without CUDA (cmake --preset cpu).")
    endif()
    set(CMAKE_CUDA_COMPILER ${found_nvcc} CACHE FILEPATH "nvcc")
  endif()
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --version
                  OUTPUT_VARIABLE nvcc_says RESULT_VARIABLE nvcc_status ERROR_QUIET)
  if(NOT nvcc_status EQUAL 0 OR NOT nvcc_says MATCHES "nvcc.*release ([0-9]+\\.[0-9]+)")
    amasia_fail("the CUDA compiler ${CMAKE_CUDA_COMPILER} is not nvcc, or does not run, and no other "
                "compiler is supported.")
  endif()
  set(nvcc_release ${CMAKE_MATCH_1})
  set(nvcc "nvcc ${nvcc_release} (${CMAKE_CUDA_COMPILER})")
  if(nvcc_release VERSION_LESS 12.4)
    amasia_fail("${nvcc} is too old: 12.4 or newer is needed.")
  endif()
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch OUTPUT_VARIABLE known)
  foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
    string(REGEX MATCH "^[0-9]+" number ${architecture})
    if(NOT known MATCHES "compute_${number}\n")
      amasia_fail("${nvcc} does not know sm_${number}: the V100 needs CUDA 12, GPUs after Hopper 12.8, 12.9 or 13.")
    endif()
  endforeach()
  enable_language(CUDA)
  # Debian 12's CMake (3.25.1) sets a property of this target without asking whether it exists, and
  # CUDA 13 no longer has that library. Nothing links it.
  if(CMAKE_VERSION VERSION_LESS 3.26 AND NOT TARGET CUDA::nvToolsExt)
    add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
  endif()

  # The -O of nvcc is for host code alone, and of that .cu files hold what launches. -O1 instead of -O3 spares a tenth of
  # the compiler's time, and -Og another 3 to 5 %. Line numbers, which profilers and debuggers ask for and no test or first
  # look does, are a tenth, and three quarters of what is linked. Kernels, and the digests of the sources, are the same in
  # all cases.
  set(amasia_timed_cuda_flags "${CMAKE_CUDA_FLAGS_RELEASE}")
  set(device_options ${amasia_device_options})
  string(REGEX REPLACE "-O[23]" "-Xcompiler=-Og" CMAKE_CUDA_FLAGS_RELEASE "${CMAKE_CUDA_FLAGS_RELEASE}")
  if(NOT AMASIA_LINE_NUMBERS)
    list(REMOVE_ITEM device_options -lineinfo)
  endif()

  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
  if(ccache_program AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${ccache_program})
  endif()
  # Launch bounds ask for the 2048 resident threads that an SM of the V100, A100 and H100 has. Others
  # have fewer, and there the assembler warns that it ignores the bound, which is what is wanted. For
  # targets without 'a' or 'f' it warns that multicast copies may be slow on some of them.
  set(assembler_warnings "")
  foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
    if(architecture MATCHES "^(75|86|87|89|12[0-9])|^(90|10[0-9]|110)(-|$)")
      set(assembler_warnings -Xptxas=--disable-warnings)
    endif()
  endforeach()
  target_compile_options(amasia_options INTERFACE
    $<$<COMPILE_LANGUAGE:CUDA>:${device_options} ${assembler_warnings}>)
endif()

# The executable is meant to be copied to a cluster node: take the C++ runtime along.
add_link_options(-static-libstdc++ -static-libgcc)

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
    file(STRINGS ${source} generated REGEX "^#include \"(commit|build|[a-z_]*digests?)\\.inc\""
         LIMIT_COUNT 1)
    if(folder IN_LIST ARGN AND NOT generated)
      set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${name})
    endif()
  endforeach()
endfunction()
