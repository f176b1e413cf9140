# The suite as a library: Amasia::variants, Amasia::device, Amasia::harness and amasia_add_app(), for the examples and
# for projects that have this tree as a part of theirs; and the same installed, for find_package(Amasia).
include(AmasiaApp)

# How data moves, header-only: ptx/, geometry/ and copies/ in a kernel of any project.
add_library(amasia_variants INTERFACE)
target_include_directories(amasia_variants INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
target_compile_features(amasia_variants INTERFACE cxx_std_17)
add_library(Amasia::variants ALIAS amasia_variants)

# Registered by objects that nothing refers to: commands, and the microbenchmarks, of which the ceilings make the
# floors of all apps.
set(registered ${amasia_objects})
list(FILTER registered INCLUDE REGEX "^microbench_")
list(TRANSFORM registered REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
add_library(amasia_outside INTERFACE)
target_link_libraries(amasia_outside INTERFACE amasia_harness OpenMP::OpenMP_CXX)  # which has the commands
target_sources(amasia_outside INTERFACE ${registered})
add_library(Amasia::harness ALIAS amasia_outside)
if(AMASIA_CUDA)
  add_library(Amasia::device ALIAS variants)
endif()
# The program's main(), apart from the rest for who has one already.
add_library(main_object OBJECT ${PROJECT_SOURCE_DIR}/harness/main/amasia.cpp)
target_link_libraries(main_object PRIVATE amasia_options)
add_library(amasia_main INTERFACE)
target_sources(amasia_main INTERFACE $<TARGET_OBJECTS:main_object>)
add_library(Amasia::main ALIAS amasia_main)

# For amasia_add_app(), wherever it is called.
set_property(GLOBAL PROPERTY amasia_root ${PROJECT_SOURCE_DIR})
set_property(GLOBAL PROPERTY amasia_digests amasia_digests)  # a target; a path where the suite is installed
set_property(GLOBAL PROPERTY amasia_manifests ${PROJECT_BINARY_DIR}/generated/provenance)
set_property(GLOBAL PROPERTY amasia_architectures "${CMAKE_CUDA_ARCHITECTURES}")
set_property(GLOBAL PROPERTY amasia_cuda ${AMASIA_CUDA})
set_property(GLOBAL PROPERTY amasia_device_options ${amasia_device_options})

if(NOT AMASIA_INSTALL)
  return()
endif()

# --- What is installed ------------------------------------------------------------------------------

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(installed_headers ${CMAKE_INSTALL_INCLUDEDIR}/amasia)
set(installed_libraries ${CMAKE_INSTALL_LIBDIR}/amasia)
set(installed_package ${CMAKE_INSTALL_LIBDIR}/cmake/Amasia)
set(installed_tools ${CMAKE_INSTALL_LIBEXECDIR}/amasia)

install(TARGETS amasia RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS amasia_digests RUNTIME DESTINATION ${installed_tools})
# On its own into a Python environment: cmake --install build/... --component compare --prefix .venv
install(TARGETS amasia_compare LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compare)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/variants ${PROJECT_SOURCE_DIR}/inputs DESTINATION ${installed_headers}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh"
        PATTERN published EXCLUDE PATTERN specifications EXCLUDE)
# The front door, and none of the rooms behind it.
file(GLOB front_door CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/harness/*.hpp)
install(FILES ${front_door} DESTINATION ${installed_headers}/harness)

# One archive of all that only registers itself: it is linked whole.
add_library(amasia_registered STATIC $<TARGET_OBJECTS:commands> ${registered})
set_target_properties(amasia_registered PROPERTIES LINKER_LANGUAGE CXX)
add_library(amasia_program STATIC $<TARGET_OBJECTS:main_object>)
set_target_properties(amasia_program PROPERTIES LINKER_LANGUAGE CXX)
list(PREPEND archives amasia_program)
install(TARGETS amasia_registered ${archives} ARCHIVE DESTINATION ${installed_libraries})
list(TRANSFORM archives REPLACE ".+" "lib\\0.a")
# SHA-256, as this build found it.
cmake_path(GET nettle_library FILENAME nettle_name)

install(FILES cmake/AmasiaApp.cmake cmake/code_options.cmake
              ${PROJECT_BINARY_DIR}/generated/provenance/ceiling_manifest.txt
              ${PROJECT_BINARY_DIR}/generated/provenance/ground_manifest.txt
        DESTINATION ${installed_package})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/AmasiaConfig.cmake.in
  ${PROJECT_BINARY_DIR}/generated/package/AmasiaConfig.cmake INSTALL_DESTINATION ${installed_package}
  PATH_VARS installed_headers installed_libraries installed_tools)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/package/AmasiaConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/package/AmasiaConfig.cmake
              ${PROJECT_BINARY_DIR}/generated/package/AmasiaConfigVersion.cmake DESTINATION ${installed_package})
