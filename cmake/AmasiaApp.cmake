# amasia_add_app(NAME SOURCES <file>... [NVCC_OPTIONS <option>...]): an executable NAME that is `amasia` with one app,
# yours: list, verify, tune, run, cross and all other commands. Here, where the suite is installed
# (find_package(Amasia)), and where it is a part of another project (FetchContent, add_subdirectory).
#
# NAME is also the name by which the sources register the app; a file that registers a variant is called as its
# strategy: tma.cu. .cu files are left out where the suite was built without CUDA; what remains has the app's
# parameters, sizes and CPU reference. Kernels are compiled for the architectures of the suite, or for
# AMASIA_ARCHITECTURES, some of those; with the suite's options and NVCC_OPTIONS, which count in the digests that
# results carry.
# The targets that it makes take more sources and options by the usual commands; those do not count.
include(${CMAKE_CURRENT_LIST_DIR}/code_options.cmake)

function(amasia_add_app name)
  cmake_parse_arguments(PARSE_ARGV 1 app "" "" "SOURCES;NVCC_OPTIONS")
  if(app_UNPARSED_ARGUMENTS OR NOT app_SOURCES)
    message(FATAL_ERROR "\n  amasia_add_app(${name}): use amasia_add_app(NAME SOURCES <file>... "
                        "[NVCC_OPTIONS <option>...]).")
  endif()
  if(NOT name MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "\n  amasia_add_app(${name}): an app's name has lower-case letters, digits and _, "
                        "as on the command line and in results.")
  endif()
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(NOT multi_config AND NOT CMAKE_BUILD_TYPE)
    message(FATAL_ERROR "\n  amasia_add_app(${name}): CMAKE_BUILD_TYPE is not set, and a benchmark built without "
                        "optimisation measures nothing: use -DCMAKE_BUILD_TYPE=Release.")
  endif()
  foreach(setting root digests manifests architectures cuda device_options)
    get_property(amasia_${setting} GLOBAL PROPERTY amasia_${setting})
  endforeach()

  if(AMASIA_ARCHITECTURES)
    set(amasia_architectures ${AMASIA_ARCHITECTURES})
  endif()

  set(sources "")
  foreach(source IN LISTS app_SOURCES)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    if(NOT EXISTS ${source})
      message(FATAL_ERROR "\n  amasia_add_app(${name}): there is no ${source}.")
    endif()
    if(amasia_cuda OR NOT source MATCHES "\\.cu$")
      list(APPEND sources ${source})
    endif()
  endforeach()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(amasia_cuda AND NOT "CUDA" IN_LIST languages)
    message(FATAL_ERROR "\n  amasia_add_app(${name}): this Amasia was built with CUDA: write "
                        "project(... LANGUAGES CXX CUDA).")
  endif()

  # What results say of the sources. Known without CUDA, too, as those of the suite are.
  set(AMASIA_CUDA ${amasia_cuda})
  set(CMAKE_CUDA_STANDARD 17)
  set(amasia_device_options ${amasia_device_options})
  if(NOT DEFINED amasia_timed_cuda_flags)
    set(amasia_timed_cuda_flags "${CMAKE_CUDA_FLAGS_RELEASE}")
  endif()
  amasia_code_options(options)
  string(JOIN " " options ${options} ${app_NVCC_OPTIONS})
  set(patterns "")
  foreach(folder ${CMAKE_CURRENT_SOURCE_DIR} ${amasia_root}/variants ${amasia_root}/inputs)
    list(APPEND patterns ${folder}/*.cu ${folder}/*.cuh ${folder}/*.hpp ${folder}/*.cpp)
  endforeach()
  file(GLOB_RECURSE counted CONFIGURE_DEPENDS ${patterns})
  list(FILTER counted EXCLUDE REGEX "^${CMAKE_CURRENT_BINARY_DIR}/")
  set(digests ${CMAKE_CURRENT_BINARY_DIR}/${name}_digests.cpp)
  set(all_sources ${app_SOURCES})
  list(TRANSFORM all_sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
  add_custom_command(
    OUTPUT ${digests}
    BYPRODUCTS ${CMAKE_CURRENT_BINARY_DIR}/${name}_digests.txt
    COMMAND ${amasia_digests} app ${name} ${amasia_root} ${amasia_manifests} ${CMAKE_CURRENT_SOURCE_DIR}
            ${options} ${digests} ${all_sources}
    DEPENDS ${counted} ${amasia_manifests}/ceiling_manifest.txt ${amasia_manifests}/ground_manifest.txt
            ${amasia_digests}
    COMMENT "Digests of the sources of ${name}" VERBATIM)

  # The sources are the executable's own, so that the linker keeps what only registers itself.
  add_executable(${name} ${sources} ${digests})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE Amasia::harness Amasia::main)
  set_target_properties(${name} PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
  # It is meant to be copied to a cluster node: take the C++ runtime along.
  target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
  if(amasia_cuda)
    # The intermediate code is kept where the program looks for the proof of mechanism when there is no disassembler.
    # ccache restores the object file only: after a hit the kept PTX would be missing.
    set(kept ${CMAKE_CURRENT_BINARY_DIR}/code/${name})
    file(MAKE_DIRECTORY ${kept})
    set_target_properties(${name} PROPERTIES
      CUDA_ARCHITECTURES "${amasia_architectures}" CUDA_RUNTIME_LIBRARY Static CUDA_COMPILER_LAUNCHER ""
      CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    target_compile_options(${name} PRIVATE
      "$<$<COMPILE_LANGUAGE:CUDA>:--keep;--keep-dir=${kept};${amasia_device_options};${app_NVCC_OPTIONS}>")
  endif()
endfunction()
