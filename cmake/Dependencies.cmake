# Libraries, found as packages. All that are missing are named at once, with the packages that have them.

set(missing_libraries "")
set(missing_packages "")
macro(amasia_require name package)
  find_package(${name} ${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    string(APPEND missing_libraries " ${name}")
    string(APPEND missing_packages " ${package}")
  endif()
endmacro()

amasia_require(fmt libfmt-dev)
amasia_require(CLI11 libcli11-dev)
amasia_require(nlohmann_json nlohmann-json3-dev)
amasia_require(OpenMP g++ COMPONENTS CXX)
amasia_require(Threads libc6-dev)
if(AMASIA_CUDA)
  amasia_require(benchmark libbenchmark-dev)
endif()
if(AMASIA_TESTS)
  amasia_require(GTest libgtest-dev)
endif()

if(missing_libraries)
  amasia_fail("not found:${missing_libraries}. Debian and Ubuntu have them as packages: "
              "apt-get install${missing_packages} (scripts/setup.sh installs what is missing).")
endif()
