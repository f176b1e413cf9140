# harness: no CUDA header, works and is tested anywhere. harness_gpu: what needs the runtime. Included in front of the
# apps: of what is ready ninja starts first what was declared first, and the templates of the harness take as long as
# the largest kernels.
set(harness_folder ${PROJECT_SOURCE_DIR}/harness)
file(GLOB_RECURSE host_sources CONFIGURE_DEPENDS ${harness_folder}/*.cpp)
list(FILTER host_sources EXCLUDE REGEX "/harness/(gpu|no_gpu|main|gbench|cli)/")
add_library(harness STATIC ${host_sources})
target_link_libraries(harness PUBLIC inputs microbench amasia_options amasia_fmt CLI11::CLI11
                      nlohmann_json::nlohmann_json amasia_nettle ZLIB::ZLIB Threads::Threads ${CMAKE_DL_LIBS})
target_link_libraries(harness PRIVATE amasia_toml)
target_compile_definitions(harness PRIVATE AMASIA_VERSION="${PROJECT_VERSION}")
# Nothing in it is timed. -Og compiles in half the time of -O3 and in three quarters of that of -O1; -O0 takes as long,
# writes objects three times as large, and runs slower.
set(host_options $<$<CONFIG:Release>:-Og>)
# Inlined, GCC 12 takes the unused members of a std::variant for uninitialised.
list(APPEND host_options -Wno-maybe-uninitialized)
target_compile_options(harness PRIVATE ${host_options})
# What takes the compiler's time are the templates for JSON, text and options. Rooms beside each other
# instantiate them once, in translation units that take about as long as each other.
function(amasia_compile_rooms_together name)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/harness/ OUTPUT_VARIABLE rooms)
  amasia_compile_together(harness ${name} ${rooms})
endfunction()
amasia_compile_together(harness ground ${harness_folder})
amasia_compile_rooms_together(ground text statistics evidence)
amasia_compile_rooms_together(results results conclusions report)
amasia_compile_rooms_together(session plan user_kernel process session implementations)
include(digests)  # commit, compilers and the digests of the sources, for provenance.cpp
amasia_add_provenance(harness)

# What the source documents published, for studies that put own values beside it.
set(inventory ${PROJECT_SOURCE_DIR}/inputs/published/inventory.csv)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${inventory})
file(READ ${inventory} inventory)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/published/inventory.inc
     CONTENT "R\"csv(@inventory@)csv\"\n" @ONLY)
target_include_directories(harness PRIVATE ${PROJECT_BINARY_DIR}/generated/published)

if(AMASIA_CUDA)
  file(GLOB gpu_sources CONFIGURE_DEPENDS ${harness_folder}/gpu/*.cpp
       ${harness_folder}/gpu/*.cu)
  add_library(harness_gpu STATIC ${gpu_sources})
  target_link_libraries(harness_gpu PUBLIC harness variants CUDA::cudart_static)
else()
  file(GLOB gpu_sources CONFIGURE_DEPENDS ${harness_folder}/no_gpu/*.cpp)
  add_library(harness_gpu STATIC ${gpu_sources})
  target_link_libraries(harness_gpu PUBLIC harness)
endif()
amasia_compile_together(harness_gpu gpu ${harness_folder}/gpu ${harness_folder}/no_gpu)

# The command line, with a file for each command. Nothing refers to one but its own registration, so a
# static library would lose it: whoever links amasia_commands gets the objects.
file(GLOB_RECURSE command_sources CONFIGURE_DEPENDS ${harness_folder}/cli/*.cpp)
add_library(commands OBJECT ${command_sources})
target_link_libraries(commands PRIVATE harness)
target_compile_options(commands PRIVATE ${host_options})
amasia_compile_together(commands cli ${harness_folder}/cli ${harness_folder}/cli/commands)
add_library(amasia_commands INTERFACE)
target_sources(amasia_commands INTERFACE $<TARGET_OBJECTS:commands>)

# The two refer to each other (the child process performs GPU tasks): programs link both as a group.
add_library(amasia_harness INTERFACE)
target_link_libraries(amasia_harness INTERFACE amasia_commands
                      "$<LINK_GROUP:RESCAN,harness,harness_gpu>")

# libamasia_compare, which the Python package amasia loads: harness/implementations for C. Nothing of what it
# is linked from is seen from outside, because the process has other libraries with fmt or CUDA's runtime in them.
# amasia_add_compare_library(TARGET LIBRARY...): the same around another device.
set(archives harness harness_gpu inputs microbench ${fmt_archive})
if(AMASIA_CUDA)
  list(APPEND archives variants)
endif()
set_target_properties(${archives} PROPERTIES POSITION_INDEPENDENT_CODE ON)
function(amasia_add_compare_library target)
  set(exported ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../harness/implementations/compare_library.map)
  add_library(${target} SHARED ${exported})
  target_link_libraries(${target} PRIVATE ${ARGN})
  # Of the archive it takes what the exported function needs.
  target_link_options(${target} PRIVATE -Wl,--version-script=${exported} -Wl,--no-undefined
                                        -Wl,--undefined=amasia_compare)
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE CXX LINK_DEPENDS ${exported} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endfunction()
amasia_add_compare_library(amasia_compare "$<LINK_GROUP:RESCAN,harness,harness_gpu>")

if(AMASIA_GBENCH)
  file(GLOB gbench_sources CONFIGURE_DEPENDS ${harness_folder}/gbench/*.cpp)
  add_library(gbench OBJECT ${gbench_sources})
  target_link_libraries(gbench PRIVATE harness benchmark::benchmark)
  target_compile_options(gbench PRIVATE ${host_options})
  amasia_compile_together(gbench gbench ${harness_folder}/gbench)
endif()
