# The programs, of all objects that there are.
add_executable(amasia ${PROJECT_SOURCE_DIR}/harness/main/amasia.cpp)
target_link_libraries(amasia PRIVATE ${amasia_objects} amasia_harness OpenMP::OpenMP_CXX)
set_target_properties(amasia PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
if(NOT PROJECT_IS_TOP_LEVEL AND NOT AMASIA_INSTALL)
  # A program without apps, and what Python loads.
  set_target_properties(amasia amasia_compare PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

if(AMASIA_GBENCH)
  add_executable(amasia-gbench ${PROJECT_SOURCE_DIR}/harness/main/gbench.cpp)
  target_link_libraries(amasia-gbench PRIVATE amasia_gbench ${amasia_objects} amasia_harness OpenMP::OpenMP_CXX)
  set_target_properties(amasia-gbench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endif()
