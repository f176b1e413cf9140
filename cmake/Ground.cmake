# What harness, apps and microbenchmarks stand on.
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
amasia_compile_together(inputs inputs ${PROJECT_SOURCE_DIR}/inputs ${PROJECT_SOURCE_DIR}/inputs/formats)

# What microbenchmarks share on the host.
file(GLOB microbench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/microbench/*.cpp)
add_library(microbench STATIC ${microbench_sources})
target_link_libraries(microbench PUBLIC amasia_options)
