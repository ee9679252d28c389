# What the component core is made of. Shared with the installed package, for those who link the archive.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(TBB REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(PNG REQUIRED)
pkg_check_modules(highway REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
# OpenBLAS is linked as an archive: a copy of our own, whose threads we may set and whose kernels we may choose without
# touching the one that another library of the same process uses (base/blas.cc).
if(NOT TARGET openblas::archive)
  pkg_check_modules(openblas REQUIRED openblas)
  find_library(OPENBLAS_ARCHIVE libopenblas.a HINTS ${openblas_LIBRARY_DIRS} REQUIRED)
  find_library(GFORTRAN_LIBRARY NAMES gfortran libgfortran.so.5 REQUIRED) # the Fortran parts of LAPACK need it
  mark_as_advanced(OPENBLAS_ARCHIVE GFORTRAN_LIBRARY)
  add_library(openblas::archive STATIC IMPORTED)
  set_target_properties(openblas::archive PROPERTIES IMPORTED_LOCATION "${OPENBLAS_ARCHIVE}"
                        INTERFACE_INCLUDE_DIRECTORIES "${openblas_INCLUDE_DIRS}"
                        INTERFACE_LINK_LIBRARIES "${GFORTRAN_LIBRARY};m")
endif()
