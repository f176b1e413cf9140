# One object library per app and per microbenchmark folder, by glob: a new variant is a new file. Object
# libraries, because a static library would drop files that nothing refers to but their registration.

if(AMASIA_CUDA)
  find_package(CUDAToolkit REQUIRED)
endif()

# The ground: how data moves. Nothing above it is included there (tests/python/test_structure.py).
if(AMASIA_CUDA)
  file(GLOB_RECURSE variants_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/variants/*.cpp)
  add_library(variants STATIC ${variants_sources})
  target_link_libraries(variants PUBLIC amasia_options amasia_fmt CUDA::cudart_static
                                        ${CMAKE_DL_LIBS})
  target_include_directories(variants SYSTEM PUBLIC ${CUDAToolkit_INCLUDE_DIRS})
endif()

file(GLOB_RECURSE inputs_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/inputs/*.cpp)
add_library(inputs STATIC ${inputs_sources})
target_link_libraries(inputs PUBLIC amasia_options)

include(drop_headerless)
include(units)

set(amasia_objects "")

# amasia_add_objects(FOLDER [TARGET] SOURCES <source>... [ARCHITECTURES <architecture>...]): an object library of
# kernels and what belongs to them, by default named after the folder and for all architectures. The intermediate PTX
# and machine code of every .cu file stay in build/code/<folder>/: the proof of mechanism reads them, and so can a
# person.
function(amasia_add_objects folder)
  cmake_parse_arguments(PARSE_ARGV 1 objects "" "" "SOURCES;ARCHITECTURES")
  string(REPLACE "/" "_" target ${folder})
  if(objects_UNPARSED_ARGUMENTS)
    set(target ${objects_UNPARSED_ARGUMENTS})
  endif()
  add_library(${target} OBJECT ${objects_SOURCES})
  target_link_libraries(${target} PRIVATE amasia_options amasia_fmt OpenMP::OpenMP_CXX)
  if(AMASIA_CUDA)
    set(kept ${PROJECT_BINARY_DIR}/code/${folder})
    file(MAKE_DIRECTORY ${kept})
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CUDA>:--keep --keep-dir=${kept}>)
    # ccache restores the object file only: after a hit the kept PTX would be missing.
    set_target_properties(${target} PROPERTIES CUDA_COMPILER_LAUNCHER "")
    if(objects_ARCHITECTURES)
      set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${objects_ARCHITECTURES}")
    endif()
    target_include_directories(${target} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  endif()
  # What a folder's own kernels need of the compiler, with the reason.
  include(${PROJECT_SOURCE_DIR}/${folder}/options.cmake OPTIONAL)
  set(amasia_objects ${amasia_objects} ${target} PARENT_SCOPE)
endfunction()

# From which compute capability on a strategy runs at all: runs_from_tma is 90, that of overlap 0.
file(READ ${PROJECT_SOURCE_DIR}/variants/strategy.hpp strategy_table)
string(REGEX MATCHALL "{\"[a-z_]+\",[ \n]+[0-9]+," strategy_rows "${strategy_table}")
foreach(row IN LISTS strategy_rows)
  string(REGEX MATCH "{\"([a-z_]+)\",[ \n]+([0-9]+)," matched "${row}")
  set(runs_from_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
endforeach()
if(NOT DEFINED runs_from_baseline)
  amasia_fail("the table of strategies in variants/strategy.hpp was not understood: each row begins with a name in "
              "quotes and the compute capability from which it runs.")
endif()

# From which compute capability on what a source of an app registers runs: that of its strategy, or, of a comparator, of
# the strategy that it spells.
function(amasia_runs_from source result)
  cmake_path(GET source STEM strategy)
  if(source MATCHES "\\.cu$" AND NOT DEFINED runs_from_${strategy})
    file(READ ${source} text)
    if(text MATCHES "register_comparator<[A-Za-z]+>\\([^;{]*Strategy::([a-z_]+)")
      set(strategy ${CMAKE_MATCH_1})
      set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    endif()
  endif()
  if(source MATCHES "\\.cu$" AND DEFINED runs_from_${strategy})
    set(${result} ${runs_from_${strategy}} PARENT_SCOPE)
  else()
    set(${result} 0 PARENT_SCOPE)
  endif()
endfunction()

# amasia_add_app_objects(APP SOURCE...): the object libraries of an app, named in objects_of_<app>. What no GPU before
# some architecture runs is compiled for that and newer ones; where the build is for none such, for those that it is
# for, because the program lists every variant.
function(amasia_add_app_objects app)
  set(limits 0)
  foreach(source IN LISTS ARGN)
    amasia_runs_from(${source} limit)
    list(APPEND limits ${limit})
    list(APPEND sources_from_${limit} ${source})
  endforeach()
  list(REMOVE_DUPLICATES limits)
  set(objects "")
  foreach(limit IN LISTS limits)
    if(NOT sources_from_${limit})
      continue()
    endif()
    set(target apps_${app})
    set(able ${CMAKE_CUDA_ARCHITECTURES})
    if(limit)
      string(APPEND target _from_${limit})
      foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
        string(REGEX MATCH "^[0-9]+" number ${architecture})
        if(number LESS limit)
          list(REMOVE_ITEM able ${architecture})
        endif()
      endforeach()
    elseif(AMASIA_CLUSTERS_ONLY)
      # No source branches on an architecture beyond 90 (a test): what others take is all there is to compile.
      list(REMOVE_ITEM able ${AMASIA_CLUSTERS_ONLY})
    endif()
    amasia_add_objects(apps/${app} ${target} SOURCES ${sources_from_${limit}} ARCHITECTURES ${able})
    amasia_compile_together(${target} host ${PROJECT_SOURCE_DIR}/apps/${app})
    if(AMASIA_CUDA AND limit AND NOT able)
      # Kernels without a body leave what only they call unused.
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--diag-suppress=177>)
    endif()
    list(APPEND objects ${target})
  endforeach()
  set(objects_of_${app} ${objects} PARENT_SCOPE)
  set(amasia_objects ${amasia_objects} PARENT_SCOPE)
endfunction()

function(amasia_sources_in folder result)
  file(GLOB host CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  set(device "")
  if(AMASIA_CUDA)
    file(GLOB device CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cu)
    amasia_drop_headerless(device)
  endif()
  set(${result} ${host} ${device} PARENT_SCOPE)
endfunction()

if(AMASIA_APPS STREQUAL "none")
  set(app_folders "")
elseif(AMASIA_APPS)
  set(app_folders ${AMASIA_APPS})
else()
  file(GLOB app_folders RELATIVE ${PROJECT_SOURCE_DIR}/apps CONFIGURE_DEPENDS
       ${PROJECT_SOURCE_DIR}/apps/*)
  list(REMOVE_ITEM app_folders common)  # what two apps share: headers only
endif()
foreach(app IN LISTS app_folders)
  if(NOT IS_DIRECTORY ${PROJECT_SOURCE_DIR}/apps/${app})
    amasia_fail("AMASIA_APPS names '${app}', but there is no folder apps/${app}.")
  endif()
  amasia_sources_in(apps/${app} sources)
  if(sources)
    amasia_add_app_objects(${app} ${sources})
  endif()
endforeach()

# What microbenchmarks share on the host.
file(GLOB microbench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/microbench/*.cpp)
add_library(microbench STATIC ${microbench_sources})
target_link_libraries(microbench PUBLIC amasia_options)

file(GLOB question_folders RELATIVE ${PROJECT_SOURCE_DIR}/microbench CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/microbench/*)
list(FILTER question_folders EXCLUDE REGEX "\\.")  # files
if(AMASIA_MICROBENCHMARKS STREQUAL "all")
  set(questions ${question_folders})
else()
  set(questions ${AMASIA_MICROBENCHMARKS})
endif()
foreach(question IN LISTS questions)
  if(NOT question IN_LIST question_folders)
    string(JOIN ", " known ${question_folders})
    amasia_fail("AMASIA_MICROBENCHMARKS names '${question}', but there is no folder "
                "microbench/${question}: use all, or some of ${known}.")
  endif()
endforeach()
# Microbenchmarks are many small files that all include the same: those of several questions are compiled
# together. A single question is what somebody works on, or what a study needs: a file each, as with
# -DCMAKE_UNITY_BUILD=OFF and for a folder that has options of its own.
list(LENGTH questions number)
set(together "")
set(together_host "")
if(AMASIA_CUDA)
  foreach(question IN LISTS questions)
    amasia_sources_in(microbench/${question} sources)
    if(number EQUAL 1 OR (DEFINED CMAKE_UNITY_BUILD AND NOT CMAKE_UNITY_BUILD)
       OR EXISTS ${PROJECT_SOURCE_DIR}/microbench/${question}/options.cmake)
      if(sources)
        amasia_add_objects(microbench/${question} SOURCES ${sources})
      endif()
      continue()
    endif()
    # What an earlier build kept of the single files is not of this one.
    file(REMOVE_RECURSE ${PROJECT_BINARY_DIR}/code/microbench/${question})
    foreach(source IN LISTS sources)
      if(source MATCHES "\\.cu$")
        cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
        list(APPEND together ${source})
      else()
        list(APPEND together_host ${source})
      endif()
    endforeach()
  endforeach()
endif()
if(together)
  amasia_write_units(units ${PROJECT_BINARY_DIR}/microbench/units ${together})
  amasia_add_objects(microbench/units SOURCES ${units} ${together_host})
else()
  file(REMOVE_RECURSE ${PROJECT_BINARY_DIR}/code/microbench/units)
endif()
set(questions_left_out ${question_folders})
list(REMOVE_ITEM questions_left_out ${questions} "")
