# Libraries, found as packages. All that are missing are named at once, with the packages that have them.

# Of a project that this one is a part of, the targets are linked to our libraries' names outside as well.
if(NOT PROJECT_IS_TOP_LEVEL)
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
endif()

set(missing_libraries "")
set(missing_packages "")
macro(amasia_is_missing name package)
  string(APPEND missing_libraries " ${name}")
  string(APPEND missing_packages " ${package}")
endmacro()
macro(amasia_require name package)
  find_package(${name} ${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    amasia_is_missing(${name} ${package})
  endif()
endmacro()

amasia_require(fmt libfmt-dev)
amasia_require(CLI11 libcli11-dev)
amasia_require(nlohmann_json nlohmann-json3-dev)
amasia_require(OpenMP g++ COMPONENTS CXX)
amasia_require(Threads libc6-dev)
# SHA-256, linked statically where that is possible: the program is copied to other machines.
find_path(nettle_include nettle/sha2.h)
find_library(nettle_library NAMES libnettle.a nettle)
if(nettle_include AND nettle_library)
  add_library(amasia_nettle INTERFACE)
  target_include_directories(amasia_nettle SYSTEM INTERFACE ${nettle_include})
  target_link_libraries(amasia_nettle INTERFACE ${nettle_library})
else()
  amasia_is_missing(nettle nettle-dev)
endif()
# gzip, linked statically for the same reason.
set(ZLIB_USE_STATIC_LIBS ON)
find_package(ZLIB QUIET)
if(NOT ZLIB_FOUND)
  set(ZLIB_USE_STATIC_LIBS OFF)
  amasia_require(ZLIB zlib1g-dev)
endif()
# TOML, read by its headers alone: the program is copied to other machines.
find_path(tomlplusplus_include toml++/toml.h)
if(tomlplusplus_include)
  add_library(amasia_toml INTERFACE)
  target_include_directories(amasia_toml SYSTEM INTERFACE ${tomlplusplus_include})
  target_compile_definitions(amasia_toml INTERFACE TOML_HEADER_ONLY=1 TOML_ENABLE_SIMD=0)
else()
  amasia_is_missing(toml++ libtomlplusplus-dev)
endif()
if(AMASIA_GBENCH)
  amasia_require(benchmark libbenchmark-dev)
endif()
if(AMASIA_TESTS)
  amasia_require(GTest libgtest-dev)
endif()

if(missing_libraries)
  amasia_fail("not found:${missing_libraries}. Debian and Ubuntu have them as packages: "
              "apt-get install${missing_packages} (scripts/setup.sh installs what is missing).")
endif()

# fmt, linked statically. Compiled once where it is the version that cmake/fmt.cpp was written for
# (Debian 12, Ubuntu 24.04): formatting then costs a source file 0.5 s instead of 2 to 4. Otherwise it is
# compiled wherever it is included.
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
  set(fmt_archive amasia_fmt)
  add_library(amasia_fmt STATIC ${PROJECT_SOURCE_DIR}/cmake/fmt.cpp)
  target_compile_options(amasia_fmt PRIVATE $<$<CONFIG:Release>:-Og>)  # as the harness
  target_include_directories(amasia_fmt SYSTEM PUBLIC
    $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
else()
  set(fmt_archive "")
  add_library(amasia_fmt INTERFACE)
  target_link_libraries(amasia_fmt INTERFACE fmt::fmt-header-only)
endif()
