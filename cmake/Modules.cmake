# A folder is a room, a room is a target, a test stands beside its source.

set(BITPOOL_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
                     -Woverloaded-virtual)
# Newer compilers than those of Debian 12 warn of more, which must not stop anyone who only wants to use Bitpool.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13
   OR CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
  list(APPEND BITPOOL_WARNINGS -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND BITPOOL_WARNINGS -Wno-restrict -Wno-stringop-overflow) # GCC 12 reports "text" + string, wrongly
endif()

if(BITPOOL_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # An included file could give its anonymous types to several objects; those that are compiled together are in one.
  list(APPEND BITPOOL_WARNINGS -Wno-subobject-linkage)
endif()
if(BITPOOL_SANITIZED OR BITPOOL_HARDENED)
  # What is added to the code to check it makes GCC lose sight of what is initialised, also in the standard library.
  list(APPEND BITPOOL_WARNINGS -Wno-maybe-uninitialized)
endif()

# One meaning of Eigen's types in every translation unit, ours and the user's: large products go to OpenBLAS, and the
# alignment does not depend on the instruction set a file happens to be compiled for.
set(BITPOOL_EIGEN_DEFINITIONS EIGEN_USE_BLAS EIGEN_MAX_ALIGN_BYTES=64 EIGEN_MAX_STATIC_ALIGN_BYTES=16)

# Rooms become parts of shared libraries that show only what include/bitpool/ marks.
set(BITPOOL_ROOM_FLAGS ${BITPOOL_WARNINGS} -fPIC -fvisibility=hidden -fvisibility-inlines-hidden)
# The programs read a command line and call rooms, where the work is done: -O1 compiles them in two thirds of the time.
set(BITPOOL_APP_FLAGS ${BITPOOL_ROOM_FLAGS} $<$<CONFIG:Release>:-O1>)

# Reading headers is a third of all compiling, so the long ones are read once for all rooms and once for all tests.
# Tests are small programs over the optimised rooms: -O1 compiles them faster, and they run as fast.
function(bitpool_precompiled target header flags)
  add_library(${target} STATIC cmake/precompiled.cc)
  target_compile_options(${target} PRIVATE ${flags}) # those of its users: even -Wpedantic changes what is predefined
  target_compile_definitions(${target} PRIVATE ${BITPOOL_EIGEN_DEFINITIONS})
  target_link_libraries(${target} PRIVATE Eigen3::Eigen fmt::fmt nlohmann_json::nlohmann_json ${ARGN})
  target_precompile_headers(${target} PRIVATE ${header})
endfunction()
set(BITPOOL_TEST_FLAGS ${BITPOOL_WARNINGS} $<$<CONFIG:Release>:-O1>)
add_custom_target(unit_tests COMMENT "The test programs of all rooms")
bitpool_precompiled(bitpool_precompiled cmake/precompiled.h "${BITPOOL_ROOM_FLAGS}")
if(BITPOOL_TESTS)
  bitpool_precompiled(bitpool_precompiled_tests cmake/precompiled_tests.h "${BITPOOL_TEST_FLAGS}" GTest::gmock)
endif()

# Most of a file's compiling is what it shares with its neighbours: templates of Eigen, of JSON, of the standard library. So twelve
# are compiled as one, and no name of a room, even in an anonymous namespace, is there twice. (What has flags of its own is left out.)
function(bitpool_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${BITPOOL_UNITY} UNITY_BUILD_BATCH_SIZE 12)
endfunction()

# The rooms of the component core. Other machines are tried with these alone (BITPOOL_CORE_ONLY).
set(BITPOOL_CORE_ROOMS base linalg io codes index samples dataset pool hash baselines metrics training guest)

# bitpool_room(FOLDER [ROOMS lower rooms...] [LIBRARIES outside libraries that its headers show...]
#              [PRIVATE outside libraries that only its sources know...] [TEST_ROOMS rooms only its tests use...]
#              [TEST_LIBRARIES outside libraries only its tests use...])
# makes the target bitpool_NAME, and NAME_test of the tests that stand beside the sources. NAME is the folder's own name.
function(bitpool_room folder)
  cmake_parse_arguments(ARG "" "" "ROOMS;LIBRARIES;PRIVATE;TEST_ROOMS;TEST_LIBRARIES" ${ARGN})
  get_filename_component(name ${folder} NAME)
  if(BITPOOL_CORE_ONLY AND NOT name IN_LIST BITPOOL_CORE_ROOMS)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(target bitpool_${name})
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(${target} PRIVATE ${BITPOOL_ROOM_FLAGS})
  target_compile_definitions(${target} PUBLIC ${BITPOOL_EIGEN_DEFINITIONS})
  target_precompile_headers(${target} REUSE_FROM bitpool_precompiled)
  bitpool_unity(${target})
  list(TRANSFORM ARG_ROOMS PREPEND bitpool_)
  target_link_libraries(${target} PUBLIC ${ARG_ROOMS} ${ARG_LIBRARIES} PRIVATE ${ARG_PRIVATE})
  set_target_properties(${target} PROPERTIES BITPOOL_OUTSIDE "${ARG_LIBRARIES};${ARG_PRIVATE}")
  if(BITPOOL_TESTS AND tests)
    list(TRANSFORM ARG_TEST_ROOMS PREPEND bitpool_)
    add_executable(${name}_test ${tests})
    target_compile_options(${name}_test PRIVATE ${BITPOOL_TEST_FLAGS})
    target_precompile_headers(${name}_test REUSE_FROM bitpool_precompiled_tests)
    bitpool_unity(${name}_test)
    target_link_libraries(${name}_test PRIVATE ${target} ${ARG_PRIVATE} ${ARG_TEST_ROOMS} ${ARG_TEST_LIBRARIES}
                          GTest::gmock GTest::gtest_main)
    add_dependencies(unit_tests ${name}_test)
    gtest_discover_tests(${name}_test TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60)
  endif()
endfunction()

# bitpool_library(COMPONENT ROOMS rooms...) makes what is installed of them: libbitpool-COMPONENT.so with a version in its
# name (bitpool::COMPONENT) and libbitpool-COMPONENT.a (bitpool::COMPONENT_static). Both hold all of these rooms; the
# shared one also holds OpenBLAS, out of everybody's sight.
function(bitpool_library component)
  cmake_parse_arguments(ARG "" "" "ROOMS" ${ARGN})
  list(TRANSFORM ARG_ROOMS REPLACE "(.+)" "$<TARGET_OBJECTS:bitpool_\\1>" OUTPUT_VARIABLE objects)
  set(shared bitpool_lib${component})
  set(static bitpool_lib${component}_static)
  add_library(${shared} SHARED ${objects})
  add_library(${static} STATIC ${objects})
  set_target_properties(${shared} PROPERTIES VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} EXPORT_NAME ${component})
  set_target_properties(${static} PROPERTIES EXPORT_NAME ${component}_static)
  foreach(target ${shared} ${static})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME bitpool-${component} LINKER_LANGUAGE CXX)
    target_compile_features(${target} INTERFACE cxx_std_20)
    target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                   $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    foreach(room ${ARG_ROOMS})
      get_target_property(libraries bitpool_${room} BITPOOL_OUTSIDE)
      target_link_libraries(${target} PRIVATE ${libraries})
    endforeach()
  endforeach()
  target_link_options(${shared} PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,defs)
endfunction()
