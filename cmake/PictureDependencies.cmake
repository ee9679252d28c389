# What the component pictures needs besides that.
find_package(SQLite3 3.37 REQUIRED)
pkg_check_modules(libpq REQUIRED IMPORTED_TARGET libpq>=14)
pkg_check_modules(vips REQUIRED IMPORTED_TARGET vips>=8.13)
# VLFeat brings neither a CMake package nor a pkg-config file.
if(NOT TARGET vlfeat::vlfeat)
  find_path(VLFEAT_INCLUDE_DIR vl/generic.h REQUIRED)
  find_library(VLFEAT_LIBRARY vl REQUIRED)
  mark_as_advanced(VLFEAT_INCLUDE_DIR VLFEAT_LIBRARY)
  add_library(vlfeat::vlfeat UNKNOWN IMPORTED)
  set_target_properties(vlfeat::vlfeat PROPERTIES IMPORTED_LOCATION "${VLFEAT_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${VLFEAT_INCLUDE_DIR}")
endif()
# OpenCV's own CMake package would need all of OpenCV.
if(NOT TARGET opencv::dnn)
  find_path(OPENCV_INCLUDE_DIR opencv2/dnn.hpp PATH_SUFFIXES opencv4 REQUIRED)
  find_library(OPENCV_CORE_LIBRARY opencv_core REQUIRED)
  find_library(OPENCV_DNN_LIBRARY opencv_dnn REQUIRED)
  mark_as_advanced(OPENCV_INCLUDE_DIR OPENCV_CORE_LIBRARY OPENCV_DNN_LIBRARY)
  add_library(opencv::dnn UNKNOWN IMPORTED)
  set_target_properties(opencv::dnn PROPERTIES IMPORTED_LOCATION "${OPENCV_DNN_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${OPENCV_INCLUDE_DIR}"
                        INTERFACE_LINK_LIBRARIES "${OPENCV_CORE_LIBRARY}")
endif()
