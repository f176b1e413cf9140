# Libraries, found as packages. Each missing one is named with the package that has it.

function(require name package)
  find_package(${name} ${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "${name} was not found. Debian/Ubuntu: apt-get install ${package} "
                        "(or run ./run.sh, which installs what is missing).")
  endif()
endfunction()

require(fmt libfmt-dev)
require(CLI11 libcli11-dev)
require(nlohmann_json nlohmann-json3-dev)
require(OpenMP g++)
require(Threads libc6-dev)
require(benchmark libbenchmark-dev)
if(AMASIA_TESTS)
  require(GTest libgtest-dev)
endif()
