# Warnings and the two helpers that every CMakeLists.txt here uses.

add_library(gantree_warnings INTERFACE)
target_compile_options(gantree_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
# GCC 12 sees overlapping copies in `"text" + std::string` when it optimizes; there are none.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(gantree_warnings INTERFACE -Wno-restrict)
endif()
# clang builds the fuzz targets. It takes libstdc++'s own use of what it deprecates (in std::stable_sort) for ours, and
# counts -Wsign-conversion to -Wconversion, which GCC does not.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(gantree_warnings INTERFACE -Wno-deprecated-declarations -Wno-sign-conversion)
endif()

# gantree_library(engine model base): the folder's sources as a static library
# gantree_engine that links gantree_model and gantree_base.
function(gantree_library name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  if(NOT sources)  # not written yet: headers only
    add_library(gantree_${name} INTERFACE)
    set(visibility INTERFACE)
  else()
    add_library(gantree_${name} STATIC ${sources})
    target_link_libraries(gantree_${name} PRIVATE gantree_warnings)
    set(visibility PUBLIC)
  endif()
  target_include_directories(gantree_${name} ${visibility} ${CMAKE_CURRENT_SOURCE_DIR})
  foreach(dependency ${ARGN})
    target_link_libraries(gantree_${name} ${visibility} gantree_${dependency})
  endforeach()
endfunction()

# gantree_test(unit_engine SOURCES... LINK libs...): one gtest binary, one ctest entry a test case.
function(gantree_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE gantree_warnings ${ARG_LINK} GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/test)
  add_test(NAME ${name} COMMAND ${name})
endfunction()
