# What only the tests need.
find_package(GTest REQUIRED)
# liblinear (another solver of SVMs, to compare ours with) brings neither a CMake package nor a pkg-config file.
if(NOT TARGET liblinear::liblinear)
  find_path(LIBLINEAR_INCLUDE_DIR linear.h PATH_SUFFIXES liblinear REQUIRED)
  find_library(LIBLINEAR_LIBRARY linear REQUIRED)
  mark_as_advanced(LIBLINEAR_INCLUDE_DIR LIBLINEAR_LIBRARY)
  add_library(liblinear::liblinear UNKNOWN IMPORTED)
  set_target_properties(liblinear::liblinear PROPERTIES IMPORTED_LOCATION "${LIBLINEAR_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${LIBLINEAR_INCLUDE_DIR}")
endif()
