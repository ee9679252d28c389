# Installs the program, the library and its headers, a CMake package (bitpool::bitpool) and a pkg-config file.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bitpool)

install(TARGETS bitpool EXPORT bitpool ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY src/bitpool DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h"
        PATTERN "*testing.h" EXCLUDE
        PATTERN "faulty_env.h" EXCLUDE
        PATTERN "forged_container.h" EXCLUDE
        PATTERN "vips_image.h" EXCLUDE
        PATTERN "sqlite_database.h" EXCLUDE)
install(EXPORT bitpool NAMESPACE bitpool:: FILE bitpoolTargets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/bitpoolConfig.cmake.in ${CMAKE_BINARY_DIR}/bitpoolConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/bitpoolConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/bitpoolConfig.cmake ${CMAKE_BINARY_DIR}/bitpoolConfigVersion.cmake
              cmake/Dependencies.cmake DESTINATION ${package_dir})

list(TRANSFORM BITPOOL_EIGEN_DEFINITIONS PREPEND "-D" OUTPUT_VARIABLE eigen_flags)
list(JOIN eigen_flags " " BITPOOL_EIGEN_FLAGS)
file(RELATIVE_PATH BITPOOL_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/bitpool.pc.in ${CMAKE_BINARY_DIR}/bitpool.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/bitpool.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
