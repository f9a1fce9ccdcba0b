# Warnings and the two helpers that every CMakeLists.txt here uses.

add_library(gantree_warnings INTERFACE)
target_compile_options(gantree_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
# GCC 12 sees overlapping copies in `"text" + std::string` when it optimizes, and values of empty optionals that are
# used; there are none. What includes sources, as batches do, it takes for a program of headers: unnamed namespaces are
# fine there.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(gantree_warnings INTERFACE -Wno-restrict -Wno-maybe-uninitialized -Wno-subobject-linkage)
endif()
# clang builds the fuzz targets. It takes libstdc++'s own use of what it deprecates (in std::stable_sort) for ours, and
# counts -Wsign-conversion to -Wconversion, which GCC does not.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(gantree_warnings INTERFACE -Wno-deprecated-declarations -Wno-sign-conversion)
endif()

# Several sources to a compiler run: headers are most of the work, and so they are parsed once for all of these. Each
# source must compile by itself as well, which the preset without it shows (dev). They are named from an include
# directory, so that the result does not depend on where the tree is.
option(GANTREE_UNITY "Compile several sources at a time" ON)
function(gantree_batches result name root)
  list(LENGTH ARGN left)
  if(NOT GANTREE_UNITY OR left LESS 2)
    set(${result} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(batches "")
  set(rest ${ARGN})
  while(rest)
    set(text "")
    list(SUBLIST rest 0 8 sources)
    list(REMOVE_ITEM rest ${sources})
    foreach(source ${sources})
      file(REAL_PATH ${source} source)
      file(RELATIVE_PATH source ${root} ${source})
      string(APPEND text "#include \"${source}\"\n")
    endforeach()
    list(LENGTH batches number)
    set(batch ${CMAKE_CURRENT_BINARY_DIR}/batches/${name}_${number}.cpp)
    file(CONFIGURE OUTPUT ${batch} CONTENT "${text}" @ONLY)
    list(APPEND batches ${batch})
  endwhile()
  set(${result} ${batches} PARENT_SCOPE)
endfunction()

# gantree_library(engine model base): the folder's sources as a static library
# gantree_engine that links gantree_model and gantree_base.
function(gantree_library name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  if(NOT sources)  # not written yet: headers only
    add_library(gantree_${name} INTERFACE)
    set(visibility INTERFACE)
  else()
    gantree_batches(sources ${name} ${CMAKE_CURRENT_SOURCE_DIR} ${sources})
    add_library(gantree_${name} STATIC ${sources})
    target_link_libraries(gantree_${name} PRIVATE gantree_warnings)
    set(visibility PUBLIC)
  endif()
  target_include_directories(gantree_${name} ${visibility} ${CMAKE_CURRENT_SOURCE_DIR})
  foreach(dependency ${ARGN})
    target_link_libraries(gantree_${name} ${visibility} gantree_${dependency})
  endforeach()
endfunction()

# gantree_test(unit_engine SOURCES... ALONE... LINK libs...): one gtest binary and ctest entry. ALONE are sources whose
# small tools have names that others have too, so that they are compiled by themselves.
function(gantree_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;ALONE;LINK" ${ARGN})
  gantree_batches(batches ${name} ${CMAKE_SOURCE_DIR}/test ${ARG_SOURCES})
  add_executable(${name} ${batches} ${ARG_ALONE})
  target_link_libraries(${name} PRIVATE gantree_warnings ${ARG_LINK} GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/test)
  add_test(NAME ${name} COMMAND ${name})
endfunction()
