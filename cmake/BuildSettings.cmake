# Build type, language standards, architectures, warnings.

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT multi_config)
  set(known_types Release RelWithDebInfo Debug)
  if(NOT CMAKE_BUILD_TYPE)
    message(FATAL_ERROR "CMAKE_BUILD_TYPE is not set: a benchmark built without optimisation measures "
                        "nothing. Use a preset (cmake --preset sm90) or -DCMAKE_BUILD_TYPE=Release.")
  elseif(NOT CMAKE_BUILD_TYPE IN_LIST known_types)
    message(FATAL_ERROR "CMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} is unknown; one of: ${known_types}.")
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
target_compile_options(amasia_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror>)

if(AMASIA_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES is not set. Use a preset (cmake --preset sm90, sm80, "
                        "portable), or name the GPU's compute capability: -DCMAKE_CUDA_ARCHITECTURES=90. "
                        "Without CUDA: cmake --preset cpu.")
  endif()
  foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
    if(NOT architecture MATCHES "^(70|75|80|86|89|90a?|100a?|103a?|120a?)(-real|-virtual)?$")
      message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES has '${architecture}': use 70, 75, 80, 86, 89, 90, "
                          "100, 103 or 120 (with a suffix -real or -virtual if wanted).")
    endif()
  endforeach()
  enable_language(CUDA)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.4)
    message(FATAL_ERROR "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is too old: 12.4 or newer is needed.")
  endif()
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13.0)
    foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
      if(architecture MATCHES "^70")
        message(FATAL_ERROR "CUDA ${CMAKE_CUDA_COMPILER_VERSION} cannot compile for sm_70 (V100): use a "
                            "CUDA 12 toolkit.")
      endif()
    endforeach()
  endif()
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
  if(ccache_program AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${ccache_program})
  endif()
  target_compile_options(amasia_options INTERFACE
    $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Werror
      --expt-relaxed-constexpr -lineinfo>)
endif()

# The executable is meant to be copied to a cluster node: take the C++ runtime along.
add_link_options(-static-libstdc++ -static-libgcc)
