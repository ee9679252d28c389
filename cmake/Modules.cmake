# A folder is a room, a room is a target, a test stands beside its source.

set(BITPOOL_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
                     -Woverloaded-virtual -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND BITPOOL_WARNINGS -Wno-restrict) # GCC 12 reports "text" + string, wrongly
endif()

# One meaning of Eigen's types in every translation unit, ours and the user's: large products go to OpenBLAS, and the
# alignment does not depend on the instruction set a file happens to be compiled for.
set(BITPOOL_EIGEN_DEFINITIONS EIGEN_USE_BLAS EIGEN_MAX_ALIGN_BYTES=64 EIGEN_MAX_STATIC_ALIGN_BYTES=16)

# bitpool_module(NAME SOURCES a.cc ... [ROOMS lower rooms ...] [LIBRARIES outside libraries ...])
function(bitpool_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;ROOMS;LIBRARIES" ${ARGN})
  set(target bitpool_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(${target} PRIVATE ${BITPOOL_WARNINGS})
  target_compile_definitions(${target} PUBLIC ${BITPOOL_EIGEN_DEFINITIONS})
  list(TRANSFORM ARG_ROOMS PREPEND bitpool_)
  target_link_libraries(${target} PUBLIC ${ARG_ROOMS} ${ARG_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY BITPOOL_ROOMS ${target})
  set_property(GLOBAL APPEND PROPERTY BITPOOL_LIBRARIES ${ARG_LIBRARIES})
endfunction()

# bitpool_test(ROOM a_test.cc ... [LIBRARIES ...]): one test program per room.
function(bitpool_test room)
  if(NOT BITPOOL_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "LIBRARIES" ${ARGN})
  set(target ${room}_test)
  add_executable(${target} ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${target} PRIVATE ${BITPOOL_WARNINGS})
  target_compile_definitions(${target} PRIVATE BITPOOL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE bitpool_${room} ${ARG_LIBRARIES} GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${target} TEST_PREFIX ${room}. DISCOVERY_TIMEOUT 60)
endfunction()
