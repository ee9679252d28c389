#pragma once

#include <cstddef>

// The few LAPACK routines this room uses, as Fortran exports them (OpenBLAS brings no LAPACKE).
// Private to linalg. Lengths of the character arguments follow at the end, as gfortran expects.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

// All eigenvalues (ascending) and eigenvectors of a symmetric matrix, by divide and conquer.
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info, size_t,
             size_t);

// Some eigenvalues (ascending, numbers il to iu counted from 1) and eigenvectors.
void dsyevr_(const char* jobz, const char* range, const char* uplo, const int* n, double* a,
             const int* lda, const double* vl, const double* vu, const int* il, const int* iu,
             const double* abstol, int* m, double* w, double* z, const int* ldz, int* isuppz,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info, size_t,
             size_t, size_t);

// Singular value decomposition, by divide and conquer.
void dgesdd_(const char* jobz, const int* m, const int* n, double* a, const int* lda, double* s,
             double* u, const int* ldu, double* vt, const int* ldvt, double* work, const int* lwork,
             int* iwork, int* info, size_t);

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
