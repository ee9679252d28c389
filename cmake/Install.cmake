# Installs the program, the two components of the library with the public headers, a CMake package and pkg-config files.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bitpool)

install(DIRECTORY include/bitpool DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# The archives are exported apart: only those who link them have to find what is inside.
install(TARGETS bitpool_libcore bitpool_libpictures EXPORT bitpool LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS bitpool_libcore_static bitpool_libpictures_static EXPORT bitpool_static
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT bitpool NAMESPACE bitpool:: FILE bitpoolTargets.cmake DESTINATION ${package_dir})
install(EXPORT bitpool_static NAMESPACE bitpool:: FILE bitpoolStaticTargets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/bitpoolConfig.cmake.in ${CMAKE_BINARY_DIR}/bitpoolConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/bitpoolConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/bitpoolConfig.cmake ${CMAKE_BINARY_DIR}/bitpoolConfigVersion.cmake
              cmake/CoreDependencies.cmake cmake/PictureDependencies.cmake DESTINATION ${package_dir})

file(RELATIVE_PATH BITPOOL_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(component core pictures)
  configure_file(cmake/bitpool.pc.in ${CMAKE_BINARY_DIR}/bitpool-${component}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/bitpool-${component}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
